import { type ClientBase, type Connection, DatabaseError, Query } from 'pg'
import { DatastoreError } from '../../ports/datastore.ts'
import { CopyIn, isCopyIn } from './copy-in.ts'
import { codeOf, translateError } from './errors.ts'
import { startDeadline, type Deadline } from './start-deadline.ts'

/** The result of one statement. */
export interface SessionResult {
  readonly rows: unknown[]
  /** Rows inserted, updated, deleted, selected; null for statements that count none. */
  readonly rowCount: number | null
  /** The command tag's first word, e.g. `ROLLBACK` as the answer to the COMMIT of a failed transaction. */
  readonly command: string
}

/** One session of the database. Its statements run one after another. */
export interface Session {
  /**
   * Begins a transaction together with the next statement, in one message: BEGIN needs no separate round trip. A
   * transaction that ends before its first statement is never begun.
   */
  readonly begin: (text: string) => void
  /**
   * @throws DatastoreError where a caller can act; `unavailable` when the deadline passed: the outcome is then unknown.
   */
  query(text: string, values: readonly unknown[]): Promise<SessionResult>
  /** Why the session must not be used again; undefined while it is sound. */
  readonly broken: unknown
  /** Marks it as not to be used again. */
  readonly spoil: (reason: unknown) => void
}

/** A source of sessions. */
export interface SessionPool {
  /** @throws DatastoreError `unavailable` when none is free in time. */
  acquire(): Promise<Session>
  release(session: Session): void
}

/** Chooses names for statements worth preparing. */
export type StatementNames = (text: string) => string | undefined

const NAMED_STATEMENTS_MAX = 400
const CANDIDATES_MAX = 1_000
const NAMED_TEXT_LENGTH_MAX = 8_192

/**
 * Names a statement from its second use on, so that it is parsed and planned once per session. The number of names is
 * bounded: further statements stay unnamed.
 */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>()
  const candidates = new Set<string>()
  return (text) => {
    const name = names.get(text)
    if (name !== undefined || names.size >= NAMED_STATEMENTS_MAX || text.length > NAMED_TEXT_LENGTH_MAX) return name
    if (candidates.delete(text)) {
      const chosen = `s${names.size}`
      names.set(text, chosen)
      return chosen
    }
    if (candidates.size >= CANDIDATES_MAX) candidates.clear()
    candidates.add(text)
    return undefined
  }
}

interface SessionOptions {
  readonly client: ClientBase
  readonly names: StatementNames
  readonly deadlineMs: number
  /** Why the server has stopped permanently; undefined while it runs. Absent: the server can always come back. */
  readonly failure?: () => Error | undefined
  /** Closes the connection, so that outstanding statements fail at once. Absent: the connection cannot be closed. */
  readonly sever?: () => void
}

/** A session whose owner can wait until nothing is outstanding any more. */
export interface OwnedSession extends Session {
  settled(): Promise<void>
}

const ignore = (): void => undefined

/** Wraps one connected `pg` client. */
export function createSession({ client, names, deadlineMs, failure, sever }: SessionOptions): OwnedSession {
  let broken: unknown
  let outstanding: Promise<void> | undefined
  let opening: string | undefined

  function send(text: string, values: readonly unknown[]): Promise<SessionResult> {
    const statement = { text, values, name: values.length > 0 ? names(text) : undefined }
    if (opening === undefined) return ask(client, statement)
    const begin = opening
    opening = undefined
    return endsTransaction(text) ? Promise.resolve(neverBegun(text)) : sendBehind(begin, statement)
  }

  /** If only BEGIN failed, the statement ran as its own transaction: the session must not be used again. */
  async function sendBehind(begin: string, statement: Statement): Promise<SessionResult> {
    const { stream } = (client as unknown as { readonly connection: Connection }).connection
    stream.cork()
    const begun = client.query(begin).then(ignore, (error: unknown) => {
      broken ??= error
    })
    const answer = ask(client, statement)
    stream.uncork()
    const [, result] = await Promise.all([begun, answer])
    if (broken !== undefined) throw broken
    return result
  }

  /** Sends statements one after another, even if the caller did not await each of them. */
  function sendInOrder(text: string, values: readonly unknown[]): Promise<SessionResult> {
    const answer = outstanding === undefined ? send(text, values) : outstanding.then(() => send(text, values))
    const settled = answer.then(ignore, ignore)
    outstanding = settled
    void forget(settled)
    return answer
  }

  async function forget(settled: Promise<void>): Promise<void> {
    await settled
    if (outstanding === settled) outstanding = undefined
  }

  function judge(error: unknown): unknown {
    const reason = failure?.() ?? broken ?? (isStalePlan(error) ? error : undefined)
    if (reason === undefined) return translateError(leadingHere(error))
    broken = reason
    return new DatastoreError('unavailable', undefined, reason)
  }

  return {
    begin(text) {
      opening = text
    },
    get broken() {
      return broken
    },
    spoil(reason) {
      broken ??= reason
    },
    async settled() {
      await outstanding
    },
    async query(text, values) {
      if (broken !== undefined) throw new DatastoreError('unavailable', undefined, broken)
      let deadline: Deadline | undefined
      const late = new Promise<never>((_resolve, reject) => {
        deadline = startDeadline(deadlineMs, () => {
          broken = new Error(`no answer within ${deadlineMs} ms`)
          reject(new DatastoreError('unavailable', undefined, broken))
          sever?.()
        })
      })
      try {
        return await Promise.race([sendInOrder(text, values), late])
      } catch (error) {
        throw judge(error)
      } finally {
        deadline?.clear()
      }
    },
  }
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly name: string | undefined
}

/** Creates the `Query` itself: from a plain object the driver copies every property descriptor, which costs 9 µs. */
function ask(client: ClientBase, { text, values, name }: Statement): Promise<SessionResult> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | undefined, result: SessionResult): void => {
      if (error) reject(error)
      else resolve(lastResult(result))
    }
    const [rows] = values
    if (rows instanceof Buffer && isCopyIn(text)) {
      client.query(new CopyIn(text, rows, settle))
      return
    }
    const query: Query & { name?: string } = new Query(text, [...values], settle)
    if (name !== undefined) query.name = name
    client.query(query)
  })
}

/** The stack of a driver error ends at its socket. The new stack leads to the caller. */
function leadingHere(error: unknown): unknown {
  if (error instanceof Error) Error.captureStackTrace(error)
  return error
}

/** A plan prepared before another replica migrated the table (0A000) stays wrong for as long as the session lives. */
function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery'
}

/** Whether the statement is the last of its transaction. */
export function endsTransaction(text: string): boolean {
  return text === 'commit' || text === 'rollback'
}

/** The answer to the end of a transaction that was never begun. */
export function neverBegun(text: string): SessionResult {
  return { rows: [], rowCount: null, command: text.toUpperCase() }
}

/** A simple query of several statements answers with one result each. */
function lastResult(result: SessionResult | SessionResult[]): SessionResult {
  if (!Array.isArray(result)) return result
  return result.at(-1) ?? { rows: [], rowCount: null, command: '' }
}
