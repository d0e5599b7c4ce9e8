import { DatastoreError, type DatastoreFailure } from '../../ports/datastore.ts'

/** SQLSTATEs that a caller can act on; two characters mean the whole class, and a whole code takes precedence. */
const FAILURE_OF_SQLSTATE: Readonly<Record<string, DatastoreFailure>> = {
  '23505': 'unique', // unique_violation
  '23502': 'constraint', // not_null_violation
  '23503': 'constraint', // foreign_key_violation
  '23514': 'constraint', // check_violation
  '23P01': 'unique', // exclusion_violation
  '08': 'unavailable', // connection exceptions
  '28': 'unavailable', // the role or its password is no longer valid
  '3D000': 'unavailable', // the database was dropped
  '40': 'unavailable', // deadlock victim, serialization failure: the second attempt failed as well
  '53': 'unavailable', // out of connections or memory
  '53100': 'readonly', // disk_full
  '55P03': 'unavailable', // lock_not_available
  '57014': 'unavailable', // query_canceled: statement_timeout
  '57P': 'unavailable', // shutdown, crash recovery, not yet accepting
  '25P03': 'unavailable', // idle_in_transaction_session_timeout
  '25006': 'readonly', // read_only_sql_transaction: a standby, or default_transaction_read_only
  '58030': 'readonly', // io_error
}

/** ENOENT and EACCES: the server's socket file does not exist, or this account may not use it. */
const NETWORK_CODE =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|E(HOST|NET)DOWN|ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|ENOENT|EACCES)$/

/** Messages of `pg` and `pg-pool`: their own connection errors have no code. */
const CONNECTION_SENTENCE =
  /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

interface Coded {
  readonly code?: unknown
  readonly constraint?: unknown
}

/** The SQLSTATE or system code of a driver error; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as Coded).code : undefined
  return typeof code === 'string' ? code : undefined
}

function failureOf(error: Error): DatastoreFailure | undefined {
  const code = codeOf(error)
  if (code === undefined) return CONNECTION_SENTENCE.test(error.message) ? 'unavailable' : undefined
  if (NETWORK_CODE.test(code)) return 'unavailable'
  return FAILURE_OF_SQLSTATE[code] ?? FAILURE_OF_SQLSTATE[code.slice(0, 3)] ?? FAILURE_OF_SQLSTATE[code.slice(0, 2)]
}

/** Translates a driver error into a `DatastoreError` if a caller can act on it. Returns every other error unchanged. */
export function translateError(error: unknown): unknown {
  if (error instanceof DatastoreError || !(error instanceof Error)) return error
  const failure = failureOf(error)
  if (failure === undefined) return error
  const { constraint } = error as Coded
  return new DatastoreError(failure, typeof constraint === 'string' ? constraint : undefined, error)
}

/** Whether the error, translated or not, has that SQLSTATE. */
export function hasSqlState(error: unknown, sqlState: string): boolean {
  return codeOf(error instanceof DatastoreError ? error.cause : error) === sqlState
}
