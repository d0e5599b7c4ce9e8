import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { ProgramResult, RunProgram } from '../system/run-program.ts'
import type { NftCommand } from './nft-json.ts'
import { MARKER_PREFIX, type CounterValue } from './table-target.ts'

/** A table of the kernel. */
export interface FoundTable {
  /** The name of its marker; undefined where the agent did not make the table. */
  readonly marker: string | undefined
  readonly counters: ReadonlyMap<string, CounterValue>
  readonly ruleCount: number
}

/** The program nft. */
export interface Nft {
  /** Reads a table without the elements of its sets; undefined if there is none. @throws CliError where it cannot be read. */
  read(table: string): Promise<FoundTable | undefined>
  /** Carries out the commands in one transaction: all of them or none. @throws CliError where it is refused. */
  commit(commands: readonly NftCommand[]): Promise<void>
}

/** Ten thousand elements take a tenth of a second; the rest is for a machine under load. */
const TIMEOUT_MS = 30_000

export function createNft(run: RunProgram): Nft {
  return {
    async read(table) {
      const result = await run('nft', ['-j', '-t', 'list', 'table', 'inet', table], { timeoutMs: TIMEOUT_MS })
      if (result.exitCode === 0) return foundTable(result.stdout)
      if (result.stderr.includes('No such file or directory')) return undefined
      throw refused('could not read its table', result)
    },
    async commit(commands) {
      const stdin = JSON.stringify({ nftables: commands })
      const result = await run('nft', ['-j', '-f', '-'], { stdin, timeoutMs: TIMEOUT_MS })
      if (result.exitCode !== 0) throw refused('refused the rules', result)
    },
  }
}

function refused(what: string, { stderr, exitCode }: ProgramResult): CliError {
  const [line = ''] = stderr.split('\n')
  const reason = line
    .trim()
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 300)
  return new CliError(`nft ${what}: ${reason === '' ? `exit code ${exitCode}` : reason}`, {
    exitCode: EXIT.failed,
    code: 'firewall_refused',
    hints: reason.includes('not permitted') ? ['Run the agent as root, or with CAP_NET_ADMIN.'] : [],
  })
}

interface ListedObject {
  readonly rule?: unknown
  readonly counter?: { readonly name: string; readonly packets: number; readonly bytes: number }
}

function foundTable(stdout: string): FoundTable {
  const { nftables } = JSON.parse(stdout) as { readonly nftables: readonly ListedObject[] }
  const counters = new Map<string, CounterValue>()
  for (const { counter } of nftables)
    if (counter !== undefined) counters.set(counter.name, { packets: counter.packets, bytes: counter.bytes })
  return {
    marker: [...counters.keys()].find((name) => name.startsWith(MARKER_PREFIX)),
    counters,
    ruleCount: nftables.filter(({ rule }) => rule !== undefined).length,
  }
}
