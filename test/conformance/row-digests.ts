import { sql } from 'kysely'
import type { Datastore } from '../../src/server/ports/datastore.ts'

/** What the leader goes on with after the answer: sealing, numbering, the places of those who follow the outbox, events on their way, how far peers have changed, samples of capacity. */
const LEADERS_OWN =
  '^(audit|outbox_|event_log|node_lanes|node_hints|peer_hints|pending_peers|visibility_changes|outgoing_events|bridge_addressees|domain_peer_marks|relay_preferences|relay_choices|capacity_totals|capacity_history|capacity_replicas)'

/**
 * Members of rows that the leader changes meanwhile: a running rollout waits for its window, and the host of each subnet is chosen,
 * which peers learn by their revisions.
 */
const LEADERS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  rollouts: ['waiting_for', 'updated_at'],
  nodes: ['hosted_subnets', 'peer_revision'],
  domain_peers: ['subnet_basis', 'revision', 'whole_revision'],
}

/**
 * A digest of every row by table, on either store, but for what no refused request is to blame for: audit rows, when a
 * token was last used, and what the leader does meanwhile.
 */
export async function rowDigests(datastore: Datastore): Promise<Readonly<Record<string, string>>> {
  const db = datastore.pool('bulk')
  const named = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename !~ ${LEADERS_OWN} order by 1`.execute(
    db,
  )
  const digests = named.rows.map(
    ({ name }) => sql`
      select ${name}::text as name, md5(coalesce(string_agg(row, ',' order by row), '')) as digest
      from (select (to_jsonb(t) - ${['last_used_at', 'seq', ...(LEADERS_MEMBERS[name] ?? [])]}::text[])::text as row from ${sql.table(name)} t) rows`,
  )
  const found = await sql<{ name: string; digest: string }>`${sql.join(digests, sql` union all `)}`.execute(db)
  return Object.fromEntries(found.rows.map(({ name, digest }) => [name, digest]))
}
