import { missingProgram } from '../../../src/cli/agent/system/missing-program.ts'
import type { ProgramResult, RunProgram } from '../../../src/cli/agent/system/run-program.ts'

/** nft and conntrack without a kernel: one table, which a transaction replaces. */
export interface FakeKernel {
  readonly run: RunProgram
  /** The transactions that were sent, as text. */
  readonly sent: readonly string[]
  /** The arguments of each deletion of flows. */
  readonly deleted: readonly string[]
  /** What nft prints when it refuses everything; undefined: it works. */
  refusal: string | undefined
  /** What `conntrack -L` prints. */
  flows: string
  readonly missing: Set<string>
}

export function createFakeKernel(): FakeKernel {
  let table: readonly object[] | undefined
  const sent: string[] = []
  const deleted: string[] = []

  function commit(text: string): ProgramResult {
    sent.push(text)
    const { nftables } = JSON.parse(text) as {
      readonly nftables: readonly { readonly add?: Readonly<Record<string, object>> }[]
    }
    const added = nftables.flatMap(({ add }) => (add === undefined || 'element' in add ? [] : [add]))
    // A deletion begins with adding the table, so that the last table is the one that stays.
    if (nftables.some((command) => 'delete' in command && 'table' in (command.delete as object)))
      table = added.length > 1 ? added : undefined
    return done('')
  }

  const fake: FakeKernel = {
    sent,
    deleted,
    refusal: undefined,
    flows: '',
    missing: new Set(),
    async run(program, args, options) {
      if (fake.missing.has(program)) throw missingProgram(program)
      if (program === 'conntrack') {
        if (args[0] === '-D') deleted.push(args.join(' '))
        return done(args[0] === '-L' ? fake.flows : '')
      }
      if (fake.refusal !== undefined) return failed(fake.refusal)
      if (args.includes('-f')) return commit(String(options?.stdin))
      return table === undefined
        ? failed('Error: No such file or directory\n')
        : done(JSON.stringify({ nftables: table }))
    },
  }
  return fake
}

function done(stdout: string): ProgramResult {
  return { stdout, stderr: '', exitCode: 0 }
}

function failed(stderr: string): ProgramResult {
  return { stdout: '', stderr, exitCode: 1 }
}
