import { setTimeout as pause } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Datastore, Db } from '../../src/server/ports/datastore.ts'
import { outdatedSubnets } from '../../src/server/slices/mesh/hosted-subnets-store.ts'

/** What the leader goes on with after the answer: sealing, numbering, the places of those who follow the outbox, events and webhooks on their way, how far peers have changed, samples of capacity and of reachability. */
const LEADERS_OWN =
  '^(audit|outbox_|event_log|node_lanes|node_hints|peer_hints|pending_peers|visibility_changes|outgoing_events|bridge_addressees|domain_peer_marks|relay_preferences|relay_choices|capacity_totals|capacity_history|capacity_replicas|reachability_samples|webhook_deliveries)'

/** Members of rows that the leader changes meanwhile: a running rollout waits for its window, a delivery to a webhook fails. */
const LEADERS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  rollouts: ['waiting_for', 'updated_at'],
  webhooks: ['failures', 'failing_since', 'last_failed_at', 'resume_at'],
}

const LOOK_MS = 50
const LOOKS_MAX = 100

/** A text for each table. */
type ByTable = ReadonlyMap<string, string>

/** Waits until the leader has chosen the hosts of all subnets, which nodes and peers learn. A server without a leader chooses none. */
async function subnetsChosen(db: Db): Promise<void> {
  for (let looks = 0; looks < LOOKS_MAX && (await outdatedSubnets(db, { max: 1, except: [] })).length > 0; looks += 1)
    await pause(LOOK_MS)
}

/**
 * A digest of every row by table, on either store, but for what no refused request is to blame for: audit rows, when a
 * session or a token was last used, and what the leader does meanwhile. Contents are read of those tables alone whose rows were written
 * since the last call.
 */
export function createRowDigests(datastore: Datastore): () => Promise<Readonly<Record<string, string>>> {
  const db = datastore.pool('bulk')
  let versions: ByTable = new Map()
  let digests: ByTable = new Map()
  return async () => {
    await subnetsChosen(db)
    const found = await rowVersions(db)
    const written = [...found.keys()].filter((name) => found.get(name) !== versions.get(name))
    const read = await contentDigests(db, written)
    digests = new Map([...found.keys()].map((name) => [name, read.get(name) ?? digests.get(name) ?? '']))
    versions = found
    return Object.fromEntries(digests)
  }
}

/** Which versions of rows each table has: a row that is written gets another place (`ctid`), from another transaction (`xmin`). */
async function rowVersions(db: Db): Promise<ByTable> {
  const named = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename !~ ${LEADERS_OWN} order by 1`.execute(
    db,
  )
  return byTable(
    db,
    named.rows.map(
      ({ name }) => sql`
      select ${name}::text as name, concat(count(*), ' ', sum(hashtextextended(concat(tableoid, ctid, xmin), 0))) as text
      from ${sql.table(name)}`,
    ),
  )
}

async function contentDigests(db: Db, names: readonly string[]): Promise<ByTable> {
  return byTable(
    db,
    names.map(
      (name) => sql`
      select ${name}::text as name, md5(coalesce(string_agg(row, ',' order by row), '')) as text
      from (select (to_jsonb(t) - ${['last_used_at', 'last_seen_at', 'seq', ...(LEADERS_MEMBERS[name] ?? [])]}::text[])::text as row from ${sql.table(name)} t) rows`,
    ),
  )
}

/** What each of the queries finds. */
async function byTable(db: Db, queries: readonly RawBuilder<unknown>[]): Promise<ByTable> {
  if (queries.length === 0) return new Map()
  const found = await sql<{ name: string; text: string }>`${sql.join(queries, sql` union all `)}`.execute(db)
  return new Map(found.rows.map(({ name, text }) => [name, text]))
}
