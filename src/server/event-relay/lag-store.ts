import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import { EVENT_RELAY } from './consumer.ts'

/** Backlog of the relay: rows that the stream has not stored yet, and the age of the oldest. */
export interface RelayLag {
  /** Changes that wait for a hint, unsigned events, signed events. Each is counted up to 10,000. */
  readonly rows: { readonly hints: number; readonly signing: number; readonly publishing: number }
  /** Age of the oldest change, without hints that wait for their window; 0 if there is none. */
  readonly seconds: number
  /** Nodes whose events wait behind a failed one. */
  readonly blockedLanes: number
}

interface LagRow {
  readonly hints: number
  readonly signing: number
  readonly publishing: number
  readonly blocked: number
  readonly oldest: Date | null
}

export async function readRelayLag(db: Db, nowMs: number): Promise<RelayLag> {
  const { rows } = await sql<LagRow>`
    select
      (select count(*)::integer from (
        (select from peer_hints limit 10000) union all (select from node_hints limit 10000) limit 10000) as row) as hints,
      (select count(*)::integer from (select from outgoing_events where wire is null limit 10000) as row) as signing,
      (select count(*)::integer from (select from outgoing_events where wire is not null limit 10000) as row) as publishing,
      (select count(distinct node_id)::integer from outgoing_events where failure is not null) as blocked,
      least(
        (select committed_at from outgoing_events order by id limit 1),
        (select occurred_at from outbox where seq is null order by id limit 1),
        (select occurred_at from outbox where seq > (select seq from outbox_consumers where name = ${EVENT_RELAY})
          order by seq limit 1)
      ) as oldest`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a select without a table gave no row')
  const { oldest, blocked: blockedLanes, ...stages } = row
  const seconds = oldest === null ? 0 : Math.max(0, (nowMs - oldest.getTime()) / 1_000)
  return { rows: { ...stages }, seconds, blockedLanes }
}
