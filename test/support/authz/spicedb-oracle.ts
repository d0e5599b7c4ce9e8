import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TupleColumns } from '../../../src/shared/authz/tuple.ts'

type Context = Readonly<Record<string, unknown>>

/** `[type, id]`, or `[type, id, relation]` for a userset. */
export type OracleSubject = readonly [string, string] | readonly [string, string, string]

/** A check as SpiceDB takes it; names in the engine's spelling. */
export interface OracleCheck {
  readonly resource: readonly [string, string]
  readonly permission: string
  readonly subject: OracleSubject
  /** Values of caveat fields. */
  readonly context?: Context
}

/** Asks for the objects of a type on which the subject has the permission. */
export interface OracleResources {
  readonly type: string
  readonly permission: string
  readonly subject: OracleSubject
  readonly context?: Context
}

/** Asks for the subjects, `[type]` or `[type, relation]` for usersets, that have the permission. */
export interface OracleSubjects {
  readonly resource: readonly [string, string]
  readonly permission: string
  readonly subjects: readonly [string] | readonly [string, string]
  readonly context?: Context
}

export interface OracleQuestion {
  readonly schema: string
  /** Names in the engine's spelling. */
  readonly tuples: readonly TupleColumns[]
  readonly checks: readonly OracleCheck[]
  readonly resources?: readonly OracleResources[]
  readonly subjects?: readonly OracleSubjects[]
}

/** One result of a lookup; `unknown` where it depends on values that the context lacks. */
export interface OracleFound {
  readonly id: string
  readonly answer: 'yes' | 'unknown'
}

export interface OracleFoundSubject extends OracleFound {
  /** Subjects that a wildcard does not stand for. */
  readonly excluded: readonly OracleFound[]
}

/** The results of a lookup, in SpiceDB's order, or its own words for why there are none. */
export type OracleLookup<Found> = { readonly found: readonly Found[] } | { readonly error: string }

export interface OracleAnswers {
  /** `yes`, `no`, `unknown` or `error: …` for each check. */
  readonly answers: readonly string[]
  readonly resources: readonly OracleLookup<OracleFound>[]
  readonly subjects: readonly OracleLookup<OracleFoundSubject>[]
}

/** Real SpiceDB in a process of its own. Every call rejects with SpiceDB's own words when it refuses schema or tuples. */
export interface Oracle {
  /** `yes`, `no`, `unknown` or `error: …` for each check, from a SpiceDB that holds nothing else. */
  ask(question: OracleQuestion): Promise<string[]>
  /** Answers checks and lookups from a SpiceDB that holds nothing else. */
  askAll(question: OracleQuestion): Promise<OracleAnswers>
  /** Why each schema is refused; empty where it is taken. */
  judge(schemas: readonly string[]): Promise<string[]>
  /** Why each tuple is refused under the schema, tried one by one; empty where it is taken. */
  attempt(schema: string, tuples: readonly TupleColumns[]): Promise<string[]>
  close(): void
}

/** SpiceDB's way through some data grows without bound, in time and in memory: it is ended, and the oracle with it. */
export class RunawayError extends Error {}

/** `deadlineMs`: how long one request may take; then SpiceDB is ended, and the request fails with `RunawayError`. Absent: for ever. */
export function startOracle({ deadlineMs }: { readonly deadlineMs?: number } = {}): Oracle {
  const script = fileURLToPath(new URL('spicedb-child.mjs', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()
  let isRunaway = false
  // Whoever waits for an answer hears that it ended.
  child.stdin.on('error', () => undefined)

  function end(): void {
    isRunaway = true
    child.kill('SIGKILL')
  }

  async function exchange<T>(request: object): Promise<T> {
    const timer = deadlineMs === undefined ? undefined : setTimeout(end, deadlineMs)
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value } = await lines.next()
    clearTimeout(timer)
    if (isRunaway) throw new RunawayError('SpiceDB did not come to an answer')
    if (value === undefined) throw new Error('SpiceDB ended')
    const result: T & { error?: string } = JSON.parse(value)
    if (result.error !== undefined) throw new Error(result.error)
    return result
  }

  function inTurn<T>(request: object): Promise<T> {
    const answer = last.then(() => exchange<T>(request))
    last = answer.catch(() => undefined)
    return answer
  }

  return {
    ask: async (question) => [...(await inTurn<OracleAnswers>(question)).answers],
    askAll: (question) => inTurn(question),
    judge: async (schemas) => (await inTurn<{ judged: string[] }>({ judge: schemas })).judged,
    attempt: async (schema, attempts) => (await inTurn<{ attempted: string[] }>({ schema, attempts })).attempted,
    close: () => child.stdin.end(),
  }
}
