import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { STALE_AFTER_MS } from '../../sql/reachability.ts'
import type { RolloutRecord } from './store.ts'

/** How long after a successful upgrade a node may take to report the version. */
const REPORT_WITHIN_MS = 10 * 60_000

/** How an upgrade goes on, by what the node and its execution say. */
const OUTCOMES = {
  gone: { state: 'skipped', reason: 'The node was deregistered.' },
  failed: { state: 'failed', reason: 'The upgrade failed.' },
  timeout: { state: 'failed', reason: 'The upgrade timed out.' },
  cancelled: { state: 'failed', reason: 'The upgrade was cancelled.' },
  checksum: { state: 'failed', reason: 'The checksum differs from that of the release.' },
  unreported: { state: 'failed', reason: 'The node did not report the version within 10 minutes of the upgrade.' },
  left: { state: 'failed', reason: 'The node ran another version before it had soaked.' },
  unhealthy: { state: 'failed', reason: 'The node was not healthy for as long as it soaks.' },
  soaking: { state: 'soaking', reason: null },
  done: { state: 'done', reason: null },
} as const

/**
 * Says whether a node runs the binary of the release for its architecture, or of any architecture where its agent does not say it.
 * `heartbeat` and `capability` are the rows of the node.
 */
export function runsRelease(version: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(heartbeat.binary_version = ${version} and exists (
    select from release_architectures as built
    where built.version = ${version} and built.checksum = heartbeat.binary_checksum
      and (capability.architecture is null or capability.architecture = built.architecture)))`
}

/** The instant before which the last heartbeat of a node must not be for the node to be healthy (`stateAt`). */
export function healthyAfter(now: Date): Date {
  return new Date(now.getTime() - STALE_AFTER_MS)
}

/**
 * Writes how the upgrades of a rollout went on since the last time. A heartbeat says what a node runs only if it is younger than the
 * upgrade. Gives how many nodes have a new state.
 */
export async function watchUpgrades(
  tx: Db,
  { id, version, soak_seconds: soakSeconds }: RolloutRecord,
  now: Date,
): Promise<number> {
  const soakedSince = new Date(now.getTime() - soakSeconds * 1000)
  const reportedBy = new Date(now.getTime() - REPORT_WITHIN_MS)
  const proven = soakSeconds === 0 ? 'done' : 'soaking'
  const outcomes = Object.entries(OUTCOMES).map(
    ([outcome, { state, reason }]) => sql`(${outcome}::text, ${state}::text, ${reason}::text)`,
  )
  const { numAffectedRows = 0n } = await sql`
    update rollout_nodes as watched
    set state = outcome.state, reason = coalesce(outcome.reason || judged.detail, outcome.reason), updated_at = ${now}
    from (
      select seen.node_id, case
          when seen.is_gone then 'gone'
          when seen.state = 'upgrading' then case
            when seen.status is null then 'cancelled'
            when seen.status in ('failed', 'timeout', 'cancelled') then seen.status
            when seen.has_version and seen.accepted_at > seen.since then
              case when seen.runs_release then ${proven} else 'checksum' end
            when seen.status = 'succeeded' and seen.finished_at <= ${reportedBy}::timestamptz then 'unreported'
          end
          when not seen.has_version then 'left'
          when not seen.runs_release then 'checksum'
          when seen.accepted_at <= ${healthyAfter(now)}::timestamptz or seen.healthy_since > seen.since then 'unhealthy'
          when seen.since <= ${soakedSince}::timestamptz then 'done'
        end as outcome,
        -- What the agent says of its failure, which may be long.
        case when seen.state = 'upgrading' and seen.status = 'failed' then ' ' || left(seen.error, 500) end as detail
      from (
        select upgrade.node_id, upgrade.state, upgrade.updated_at as since, node.id is null as is_gone,
          execution.status, execution.finished_at, execution.error, heartbeat.accepted_at, heartbeat.healthy_since,
          coalesce(heartbeat.binary_version = ${version}, false) as has_version,
          ${runsRelease(version)} as runs_release
        from rollout_nodes as upgrade
        left join nodes as node on node.id = upgrade.node_id
        left join node_heartbeats as heartbeat on heartbeat.node_id = upgrade.node_id
        left join node_capabilities as capability on capability.node_id = upgrade.node_id
        left join executions as execution on execution.id = upgrade.execution_id
        where upgrade.rollout_id = ${id} and upgrade.state in ('upgrading', 'soaking')
      ) as seen
    ) as judged
    join (values ${sql.join(outcomes)}) as outcome (outcome, state, reason) on outcome.outcome = judged.outcome
    where watched.rollout_id = ${id} and watched.node_id = judged.node_id`.execute(tx)
  return Number(numAffectedRows)
}
