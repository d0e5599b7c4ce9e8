import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TupleColumns } from '../../src/shared/authz/tuple.ts'

/** A check as SpiceDB takes it; references as `[type, id]`, names in the engine's spelling. */
export interface OracleCheck {
  readonly resource: readonly [string, string]
  readonly permission: string
  readonly subject: readonly [string, string]
  /** Values of caveat fields. */
  readonly context?: Readonly<Record<string, unknown>>
}

export interface OracleQuestion {
  readonly schema: string
  /** Names in the engine's spelling. */
  readonly tuples: readonly TupleColumns[]
  readonly checks: readonly OracleCheck[]
}

/** Real SpiceDB, fresh for each question. */
export interface Oracle {
  /** `yes`, `no`, `unknown` or `error: …` for each check. @throws Error with SpiceDB's own words when it refuses schema or tuples. */
  ask(question: OracleQuestion): Promise<string[]>
  close(): void
}

export function startOracle(): Oracle {
  const script = fileURLToPath(new URL('spicedb-child.mjs', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()

  async function exchange(question: OracleQuestion): Promise<string[]> {
    child.stdin.write(`${JSON.stringify(question)}\n`)
    const { value } = await lines.next()
    if (value === undefined) throw new Error('SpiceDB ended')
    const result: { answers?: string[]; error?: string } = JSON.parse(value)
    if (result.answers === undefined) throw new Error(result.error)
    return result.answers
  }

  return {
    ask(question) {
      const answer = last.then(() => exchange(question))
      last = answer.catch(() => undefined)
      return answer
    },
    close: () => child.stdin.end(),
  }
}
