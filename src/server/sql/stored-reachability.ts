import { sql, type RawBuilder } from 'kysely'
import { STALE_AFTER_MS, UNREACHABLE_AFTER_MS, type ReachabilityState } from './reachability.ts'

/** The state of a node at `nowMs`, for a query in which `accepted_at` is the column of `node_heartbeats`. */
export function storedReachability(nowMs: number): RawBuilder<ReachabilityState> {
  return sql<ReachabilityState>`case
    when accepted_at is null then 'never_reported'
    when accepted_at > ${new Date(nowMs - STALE_AFTER_MS)}::timestamptz then 'healthy'
    when accepted_at > ${new Date(nowMs - UNREACHABLE_AFTER_MS)}::timestamptz then 'stale'
    else 'unreachable' end`
}
