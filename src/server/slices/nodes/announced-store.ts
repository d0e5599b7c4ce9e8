import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { ReachabilityState, ReportTimes } from '../../sql/reachability.ts'
import { storedReachability } from '../../sql/stored-reachability.ts'

/** A change of reachability that was not announced yet. */
export interface Transition extends ReportTimes {
  readonly nodeId: string
  readonly domainId: string
  readonly from: ReachabilityState
  readonly to: ReachabilityState
}

/** Which nodes to examine: up to `max`, of all or of the named ones. */
export interface TransitionScope {
  readonly nowMs: number
  readonly max: number
  readonly nodeIds?: readonly string[]
}

interface TransitionRow {
  node_id: string
  domain_id: string
  was: ReachabilityState
  state: ReachabilityState
  created_at: Date
  accepted_at: Date | null
  healthy_since: Date | null
}

/**
 * Marks changed reachabilities as announced, and returns the changes to announce. Compares and sets
 * under each row's lock, so that each change is returned to one caller; rows that a heartbeat is writing are left for the
 * next time, since heartbeats never wait for this for longer than the transaction lasts.
 */
export async function takeTransitions(tx: Db, { nowMs, max, nodeIds }: TransitionScope): Promise<Transition[]> {
  const state = storedReachability(nowMs)
  const among = nodeIds === undefined ? sql`true` : sql`node_id = any(${nodeIds}::uuid[])`
  const { rows } = await sql<TransitionRow>`
    with due as (
      select node_id, announced_state as was, ${state} as state
      from node_heartbeats
      where ${among} and announced_state <> ${state}
      order by node_id limit ${max}
      for no key update skip locked
    )
    update node_heartbeats as h set announced_state = due.state
    from due join nodes as n on n.id = due.node_id
    where h.node_id = due.node_id
    returning h.node_id, n.domain_id, due.was, due.state, h.created_at, h.accepted_at, h.healthy_since`.execute(tx)
  return rows.map((row) => ({
    nodeId: row.node_id,
    domainId: row.domain_id,
    from: row.was,
    to: row.state,
    createdAtMs: row.created_at.getTime(),
    acceptedAtMs: row.accepted_at?.getTime(),
    healthySinceMs: row.healthy_since?.getTime(),
  }))
}
