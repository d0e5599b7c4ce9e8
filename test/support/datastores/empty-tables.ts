import { sql } from 'kysely'
import type { Datastore } from '../../../src/server/ports/datastore.ts'

/** Tables of one row that a migration made, and what sets them back. */
const SINGLE_ROWS: Readonly<Record<string, string>> = {
  authz_head: 'update authz_head set revision = 0, zed_token = null, unmirrored_revision = 0, schema_digest = null',
  outbox_head: 'update outbox_head set seq = 0',
  event_log_head: 'update event_log_head set seq = 0, pruned_seq = 0, counted_seq = 0',
  leader_term: `update leader_term set term = 0, holder = ''`,
}

/**
 * Locks and empties every table but those named, and restarts the sequences. `truncate` makes files anew for each table and index,
 * which takes ten times as long where there are few rows. Without triggers: those of foreign keys, too.
 */
const DELETE_ALL = `do $body$
declare
  all_tables text[] := array(
    select format('%I', tablename) from pg_tables where schemaname = 'public' and tablename <> all (array[KEPT]));
  each_table text;
begin
  set local session_replication_role = replica;
  execute 'lock table ' || array_to_string(all_tables, ', ') || ' in access exclusive mode';
  foreach each_table in array all_tables loop
    execute 'delete from ' || each_table;
  end loop;
  perform setval(format('%I', sequencename)::regclass, start_value, false)
    from pg_sequences where schemaname = 'public' and last_value is not null;
end $body$`

/** Deletes every row that the application wrote and sets revision, outbox number and term back to zero. */
export async function emptyTables(datastore: Datastore): Promise<void> {
  const kept = ['schema_migrations', ...Object.keys(SINGLE_ROWS)].map((name) => `'${name}'`)
  const statements = [DELETE_ALL.replace('KEPT', kept.join(', ')), ...Object.values(SINGLE_ROWS)]
  await sql.raw(statements.join('; ')).execute(datastore.pool('interactive'))
}

/** Leaves the database as `create database` made it. */
export async function dropEverything(datastore: Datastore): Promise<void> {
  await sql.raw('drop schema public cascade; create schema public').execute(datastore.pool('bulk'))
}
