import { sql } from 'kysely'
import { afterAll, beforeAll } from 'vitest'
import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import { migrate } from '../../../src/server/adapters/postgres/migrate.ts'
import type { Datastore, Pool } from '../../../src/server/ports/datastore.ts'
import { openMemoryDatastore } from './memory-datastore.ts'
import { exceptNotDurable, startMigratedCluster } from './migrated-cluster.ts'
import type { PostgresCluster } from './postgres-cluster.ts'
import { requirement } from '../run/requirements.mjs'

export type DatastoreKind = Datastore['kind']

export const DATASTORE_KINDS: readonly DatastoreKind[] = ['embedded', 'postgres']

/** Whether this machine can run that datastore: a visible skip where not, an error where CTL_TEST_REQUIRE names it. */
export function isDatastoreMissing(kind: DatastoreKind): boolean {
  return kind === 'postgres' && requirement('postgresql') === undefined
}

/** The datastore of the surrounding `describe`. */
export interface DatastoreInUse {
  /** Migrated. Only within hooks and tests. */
  current(): Datastore
  /** What it warned of so far. */
  readonly warnings: readonly string[]
  /** The server behind it. @throws Error on the embedded store. */
  cluster(): PostgresCluster
}

export interface DatastoreSettings {
  /** Shorter deadlines of statements than the defaults. */
  readonly statementDeadlinesMs?: Partial<Record<Pool, number>>
  /** Whether a PostgreSQL waits for the disk, so that no process warns that it does not. Default: false. */
  readonly isDurable?: boolean
}

const onFailure = (error: Error) => {
  throw error
}

/**
 * Opens a migrated datastore before the tests of the surrounding `describe` and closes it after them: PGlite in memory,
 * or a PostgreSQL cluster of its own. Empty it between tests with `emptyTables`.
 */
export function useDatastore(
  kind: DatastoreKind,
  { statementDeadlinesMs = {}, isDurable = false }: DatastoreSettings = {},
): DatastoreInUse {
  let cluster: PostgresCluster | undefined
  let datastore: Datastore | undefined
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  beforeAll(async () => {
    if (isDatastoreMissing(kind)) return
    if (kind === 'postgres') cluster = await startMigratedCluster(isDurable)
    datastore = cluster
      ? await openPostgres({ url: cluster.url, statementDeadlinesMs, warn: exceptNotDurable(warn) })
      : await openMemoryDatastore({ statementDeadlinesMs, onFailure, warn })
    await migrate(datastore)
  })
  afterAll(async () => {
    await datastore?.close()
    await cluster?.stop()
  })
  return {
    current() {
      if (datastore === undefined) throw new Error(`the ${kind} datastore is not open`)
      return datastore
    },
    warnings,
    cluster() {
      if (cluster === undefined) throw new Error(`the ${kind} datastore has no cluster`)
      return cluster
    },
  }
}

/** Tables of one row that a migration made, and what sets them back. */
const SINGLE_ROWS: Readonly<Record<string, string>> = {
  authz_head: 'update authz_head set revision = 0, zed_token = null, unmirrored_revision = 0, schema_digest = null',
  outbox_head: 'update outbox_head set seq = 0',
  event_log_head: 'update event_log_head set seq = 0, pruned_seq = 0, counted_seq = 0',
  leader_term: `update leader_term set term = 0, holder = ''`,
}

/** Deletes every row that the application wrote and sets revision, outbox number and term back to zero. */
export async function emptyTables(datastore: Datastore): Promise<void> {
  const db = datastore.pool('interactive')
  const { rows } = await sql<{ tables: string }>`
    select string_agg(format('%I', tablename), ', ') as tables from pg_tables
    where schemaname = 'public' and tablename <> all (${['schema_migrations', ...Object.keys(SINGLE_ROWS)]}::text[])`.execute(
    db,
  )
  const statements = [`truncate ${rows[0]?.tables} restart identity`, ...Object.values(SINGLE_ROWS)]
  await sql.raw(statements.join('; ')).execute(db)
}

/** Leaves the database as `create database` made it. */
export async function dropEverything(datastore: Datastore): Promise<void> {
  await sql.raw('drop schema public cascade; create schema public').execute(datastore.pool('bulk'))
}
