import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Why a violation is over: its node left, was enrolled again, or reported what was expected. */
export type ResolutionCause = 'node_left' | 'node_enrolled_again' | 'expected_value_reported'

/** A violation that was resolved. */
export interface ResolvedViolation {
  readonly id: string
  readonly node_id: string
  readonly domain_id: string
  readonly kind: string
  readonly artifact_id: string
  readonly cause: ResolutionCause
}

/**
 * How long after its last report of a violation a node must still be alive and not have repeated it: agents repeat what lasts
 * once a minute, and may report a good value of the running program beside an altered file. A node that is silent altogether
 * says nothing.
 */
const QUIET = sql`interval '2 minutes'`

/** Violations examined in one transaction. */
export const EXAMINED_MAX = 500

/** Lists acknowledged violations by id, after one of them: at most as many as are examined at once. */
export async function listAcknowledged(db: Db, afterId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('node_integrity_violations')
    .select('id')
    .where('status', '=', sql.lit('acknowledged'))
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(EXAMINED_MAX)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Resolves those of the acknowledged violations that are over. A row that a report or another change is using is left to a later
 * pass.
 */
export async function resolveCleared(tx: Db, ids: readonly string[], at: Date): Promise<readonly ResolvedViolation[]> {
  const { rows } = await sql<ResolvedViolation>`
    with cleared as (
      select v.id, case
        when n.id is null then 'node_left'
        when n.enrolled_again_at > v.last_accepted_at then 'node_enrolled_again'
        else 'expected_value_reported' end as cause
      from node_integrity_violations as v
      left join nodes as n on n.id = v.node_id
      left join node_heartbeats as h on h.node_id = v.node_id
      left join node_capabilities as c on c.node_id = v.node_id
      where v.id = any(${ids}::uuid[]) and v.status = 'acknowledged' and (
        n.id is null or n.enrolled_again_at > v.last_accepted_at
        or (h.accepted_at >= v.last_accepted_at + ${QUIET} and ${REPORTED_EXPECTED})
      )
      order by v.id for update of v skip locked
    )
    update node_integrity_violations as v set status = 'resolved', resolved_at = ${at}
    from cleared where v.id = cleared.id
    returning v.id, v.node_id, v.domain_id, v.kind, v.artifact_id, cleared.cause`.execute(tx)
  return rows
}

/**
 * Whether the node has reported the expected value since it last reported the violation. Heartbeats and capabilities both have
 * the checksum of the binary: the later one counts.
 */
const REPORTED_EXPECTED: RawBuilder<SqlBool> = sql`case v.kind
  when 'binary' then greatest(h.accepted_at, c.updated_at) > v.last_accepted_at
    and case when c.updated_at > coalesce(h.accepted_at, '-infinity') then c.binary_checksum else h.binary_checksum end
      = v.expected_checksum
  when 'hook' then c.updated_at > v.last_accepted_at and c.hooks @> jsonb_build_array(
    jsonb_build_object('name', v.artifact, 'checksum', encode(v.expected_checksum, 'hex')))
  else c.updated_at > v.last_accepted_at
    and c.ssh_host_key_fingerprint = 'SHA256:' || rtrim(encode(v.expected_checksum, 'base64'), '=')
  end`

/**
 * Deletes artifacts that no violation refers to. They are locked first and compared after that: a report that refers to one of
 * them waits for the lock, and creates it again.
 */
export async function deleteUnusedArtifacts(tx: Db, max: number): Promise<number> {
  const { rows: unused } = await sql<{ id: string }>`
    select a.id from integrity_artifacts as a where ${IS_UNUSED}
    order by a.id limit ${max} for update skip locked`.execute(tx)
  const ids = unused.map(({ id }) => id)
  if (ids.length > 0)
    await sql`delete from integrity_artifacts as a where a.id = any(${ids}::uuid[]) and ${IS_UNUSED}`.execute(tx)
  return ids.length
}

const IS_UNUSED = sql`not exists (select from node_integrity_violations as v where v.artifact_id = a.id)`
