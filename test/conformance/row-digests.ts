import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Datastore, Db } from '../../src/server/ports/datastore.ts'
import { outdatedSubnets } from '../../src/server/slices/mesh/hosted-subnets-store.ts'

/** What the leader goes on with after the answer: sealing, numbering, the places of those who follow the outbox, events and webhooks on their way, how far peers have changed, samples of capacity. */
const LEADERS_OWN =
  '^(audit|outbox_|event_log|node_lanes|node_hints|peer_hints|pending_peers|visibility_changes|outgoing_events|bridge_addressees|domain_peer_marks|relay_preferences|relay_choices|capacity_totals|capacity_history|capacity_replicas|webhook_deliveries)'

/** Members of rows that the leader changes meanwhile: a running rollout waits for its window, a delivery to a webhook fails. */
const LEADERS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  rollouts: ['waiting_for', 'updated_at'],
  webhooks: ['failures', 'failing_since', 'last_failed_at', 'resume_at'],
}

const LOOK_MS = 50
const LOOKS_MAX = 100

/** Waits until the leader has chosen the hosts of all subnets, which nodes and peers learn. A server without a leader chooses none. */
async function subnetsChosen(db: Db): Promise<void> {
  for (let looks = 0; looks < LOOKS_MAX && (await outdatedSubnets(db, { max: 1, except: [] })).length > 0; looks += 1)
    await pause(LOOK_MS)
}

/**
 * A digest of every row by table, on either store, but for what no refused request is to blame for: audit rows, when a
 * token was last used, and what the leader does meanwhile.
 */
export async function rowDigests(datastore: Datastore): Promise<Readonly<Record<string, string>>> {
  const db = datastore.pool('bulk')
  await subnetsChosen(db)
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
