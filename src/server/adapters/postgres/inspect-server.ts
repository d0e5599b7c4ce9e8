import { sql } from 'kysely'
import { BootError } from '../../ports/boot-error.ts'
import { DatastoreError, type Db } from '../../ports/datastore.ts'
import { codeOf } from './errors.ts'

/** The oldest major version that all queries support. */
const POSTGRES_FLOOR = 15

/** The facts that a server reports about itself. */
export interface ServerFacts {
  version_number: number
  version: string
  encoding: string
  is_standby: boolean
  read_only: string
  fsync: string
  synchronous_commit: string
  full_page_writes: string
}

/** Settings that protect committed writes from a power failure. An operator may turn them off on purpose. */
const DURABILITY_SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes'] as const

/**
 * Checks the server behind the pool. Warns when its commits are not durable.
 * @throws BootError when it is too old, not UTF-8 or accepts no writes.
 */
export async function inspectServer(db: Db, warn: (message: string) => void): Promise<void> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int as version_number,
           current_setting('server_version') as version,
           current_setting('server_encoding') as encoding,
           pg_is_in_recovery() as is_standby,
           current_setting('default_transaction_read_only') as read_only,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as synchronous_commit,
           current_setting('full_page_writes') as full_page_writes`.execute(db)
  const [facts] = rows
  if (facts === undefined) throw new Error('the datastore did not describe itself')
  const refusal = refusalOf(facts)
  if (refusal !== undefined) throw refusal
  for (const name of DURABILITY_SETTINGS)
    if (facts[name] === 'off')
      warn(`PostgreSQL runs with ${name} = off: acknowledged writes can be lost when the machine loses power`)
}

/** The error for a server with these facts; undefined for a usable one. */
export function refusalOf(facts: ServerFacts): BootError | undefined {
  if (facts.version_number < POSTGRES_FLOOR * 10_000)
    return new BootError(1, `PostgreSQL ${facts.version} is too old: use PostgreSQL ${POSTGRES_FLOOR} or newer.`)
  if (facts.encoding !== 'UTF8')
    return new BootError(1, `The database is encoded in ${facts.encoding}: create one with ENCODING 'UTF8'.`)
  if (facts.is_standby)
    return new BootError(
      8,
      'The PostgreSQL server is a standby and takes no writes: point --database-url at the primary.',
    )
  if (facts.read_only === 'on')
    return new BootError(
      8,
      'The database takes no writes: set default_transaction_read_only to off for this role or database.',
    )
  return undefined
}

/** Message for an operator whose server cannot be used, by SQLSTATE or system code. */
const ADVICE: Readonly<Record<string, { exitCode: 1 | 8; advice: string }>> = {
  '28P01': { exitCode: 1, advice: 'it refuses the password: check --database-url' },
  '28000': { exitCode: 1, advice: 'it refuses the role: check --database-url and pg_hba.conf' },
  '3D000': { exitCode: 1, advice: 'the database does not exist: create it with createdb' },
  '53300': { exitCode: 8, advice: 'it has no free connection slot: raise max_connections or lower SERVICE_POOL_*' },
  '57P03': { exitCode: 8, advice: 'it is starting up or shutting down: try again shortly' },
  ENOTFOUND: { exitCode: 1, advice: 'its host name does not resolve: check --database-url' },
  ECONNREFUSED: { exitCode: 8, advice: 'nothing listens there: start it or check --database-url' },
}

/** The error for a server that could not be opened. Returns an unexpected error unchanged. */
export function bootErrorOf(error: unknown, url: string): unknown {
  if (!(error instanceof DatastoreError)) return error
  const { exitCode, advice } = ADVICE[codeOf(error.cause) ?? ''] ?? {
    exitCode: 8 as const,
    advice: 'it does not answer: check that it runs and that --database-url is right',
  }
  return new BootError(exitCode, `PostgreSQL at ${placeOf(url)} cannot be used: ${advice}.`, error)
}

/** Host, port and database of the URL: never its user or password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the given URL'
  const { host, pathname, searchParams } = new URL(url)
  return `${host === '' ? (searchParams.get('host') ?? 'the default socket') : host}${pathname}`
}
