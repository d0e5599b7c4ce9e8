import { sql } from 'kysely'
import type { Datastore } from '../../../src/server/ports/datastore.ts'

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
