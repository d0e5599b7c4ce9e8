import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { NodeIntegrityViolationRow } from '../../ports/tables/integrity.ts'
import type { ReportedViolation } from './violation-report.ts'

/**
 * Counts reports of violations that are known and not resolved, in one statement. What a node reports is counted as a whole or
 * not at all: where one of its violations is new, or the node is gone, its rows stay as they are. Returns the ids of the nodes
 * that are counted.
 */
export async function countRepeats(db: Db, reported: readonly ReportedViolation[]): Promise<ReadonlySet<string>> {
  const ofNode = new Map<string, number>()
  for (const { nodeId } of reported) ofNode.set(nodeId, (ofNode.get(nodeId) ?? 0) + 1)
  const sent = reported.map((violation, place) => sentRow(violation, place, ofNode.get(violation.nodeId)))
  const rows = await count(db, sent)
  return new Set(rows.map(({ node_id }) => node_id))
}

/** Counts those of the reports whose violation is known and not resolved. Returns the others, in their order. */
export async function countKnown(
  tx: Db,
  reported: readonly ReportedViolation[],
): Promise<readonly ReportedViolation[]> {
  const rows = await count(
    tx,
    reported.map((violation, place) => sentRow(violation, place)),
  )
  const known = new Set(rows.map(({ place }) => place))
  return reported.filter((_, place) => !known.has(place))
}

/** A reported violation as a member of a JSON text: one text costs this process less than binding each value. */
interface SentRow {
  /** Place in the list. */
  readonly p: number
  /** Node, kind, artifact, observed and expected checksum in hex. */
  readonly n: string
  readonly k: string
  readonly a: string
  readonly o: string
  readonly e: string
  /** Occurrences. */
  readonly t: number
  /** Violations of the node that must be known for one of them to be counted. */
  readonly w: number
  /** First and last detection, first and last acceptance. */
  readonly df: string
  readonly dt: string
  readonly af: string
  readonly at: string
}

function sentRow(violation: ReportedViolation, place: number, needed = 0): SentRow {
  const { nodeId, kind, artifact, observed, expected, occurrences } = violation
  return {
    p: place,
    n: nodeId,
    k: kind,
    a: artifact,
    o: observed,
    e: expected,
    t: occurrences,
    w: needed,
    df: instantText(violation.detectedFromMs),
    dt: instantText(violation.detectedToMs),
    af: instantText(violation.acceptedFromMs),
    at: instantText(violation.acceptedToMs),
  }
}

function instantText(ms: number): string {
  return new Date(ms).toISOString()
}

/** The sent rows as a table `sent`. */
function sentTable(sent: readonly SentRow[]): RawBuilder<unknown> {
  return sql`sent as materialized (
    select p, n, k, a, t, w, df, dt, af, at, decode(o, 'hex') as o, nullif(decode(e, 'hex'), ''::bytea) as e
    from json_to_recordset(${JSON.stringify(sent)}::json) as given (
      p integer, n uuid, k text, a text, o text, e text, t integer, w integer,
      df timestamptz, dt timestamptz, af timestamptz, at timestamptz
    )
  )`
}

/** Rows are locked in the order of their ids. The expected checksum follows the node, which may have been upgraded. */
async function count(
  db: Db,
  sent: readonly SentRow[],
): Promise<readonly { readonly place: number; readonly node_id: string }[]> {
  const { rows } = await sql<{ place: number; node_id: string }>`
    with ${sentTable(sent)},
    held as (
      select sent.p, sent.n, sent.w, known.id
      from sent
      join nodes on nodes.id = sent.n
      join node_integrity_violations as known
        on known.node_id = sent.n and known.kind = sent.k and known.artifact = sent.a
        and coalesce(known.observed_checksum, ''::bytea) = sent.o and known.status <> 'resolved'
      order by known.id for update of known
    ),
    met as (select p, id, w, count(*) over (partition by n) as found from held)
    update node_integrity_violations as known set
      occurrences = known.occurrences + sent.t,
      last_detected_at = greatest(known.last_detected_at, sent.dt),
      last_accepted_at = greatest(known.last_accepted_at, sent.at),
      expected_checksum = coalesce(sent.e, known.expected_checksum)
    from met join sent on sent.p = met.p
    where known.id = met.id and met.found >= met.w
    returning sent.p as place, known.node_id`.execute(db)
  return rows
}

/** A violation as it was opened. */
export interface OpenedViolation {
  readonly id: string
  readonly node_id: string
  readonly domain_id: string
  readonly kind: string
  readonly artifact_id: string
}

/**
 * Opens violations that are not known, each of a node whose row the caller has locked. Their artifacts stay locked until the end
 * of the transaction: the job that deletes unused artifacts skips them. Ids are in the order of the list.
 */
export async function openViolations(
  tx: Db,
  reported: readonly ReportedViolation[],
  ids: IdSource,
): Promise<readonly OpenedViolation[]> {
  const rows = reported.map((violation, place) => ({ ...sentRow(violation, place), id: ids.next(), ai: ids.next() }))
  const named = JSON.stringify(rows.map(({ n, k, a, ai }) => ({ n, k, a, ai })))
  await sql`
    insert into integrity_artifacts (id, domain_id, kind, artifact)
    select distinct on (nodes.domain_id, k, a) ai, nodes.domain_id, k, a
    from json_to_recordset(${named}::json) as named (n uuid, k text, a text, ai uuid) join nodes on nodes.id = n
    order by nodes.domain_id, k, a, ai
    on conflict on constraint integrity_artifacts_thing_key do update set artifact = excluded.artifact where false`.execute(
    tx,
  )
  const identified = JSON.stringify(rows.map(({ p, id }) => ({ p, id })))
  const { rows: opened } = await sql<OpenedViolation>`
    with ${sentTable(rows)}
    insert into node_integrity_violations (
      id, node_id, domain_id, project_id, kind, artifact, artifact_id, expected_checksum, observed_checksum, occurrences,
      detected_at, last_detected_at, accepted_at, last_accepted_at
    )
    select identified.id, nodes.id, nodes.domain_id, nodes.project_id, k, a, artifacts.id, e, nullif(o, ''::bytea), t,
      df, dt, af, at
    from sent
    join json_to_recordset(${identified}::json) as identified (p integer, id uuid) on identified.p = sent.p
    join nodes on nodes.id = sent.n
    join integrity_artifacts as artifacts
      on artifacts.domain_id = nodes.domain_id and artifacts.kind = k and artifacts.artifact = a
    order by identified.id
    returning id, node_id, domain_id, kind, artifact_id`.execute(tx)
  return opened
}

/** Violations of one node and status that were deleted. */
export interface DroppedViolations {
  readonly node_id: string
  readonly domain_id: string
  readonly status: Selectable<NodeIntegrityViolationRow>['status']
  readonly count: number
}

/**
 * Deletes violations of nodes that have more than `keptMax`: resolved ones first, then acknowledged ones, the oldest first.
 * The caller has locked the nodes' rows.
 */
export async function dropSurplus(
  tx: Db,
  nodeIds: readonly string[],
  keptMax: number,
): Promise<readonly DroppedViolations[]> {
  const { rows } = await sql<DroppedViolations>`
    with dropped as (
      delete from node_integrity_violations where id in (
        select surplus.id
        from (
          select node_id, count(*) - ${keptMax} as beyond from node_integrity_violations
          where node_id = any(${nodeIds}::uuid[]) group by node_id having count(*) > ${keptMax}
        ) as full_node
        cross join lateral (
          select id from node_integrity_violations as each where each.node_id = full_node.node_id
          order by array_position(array['resolved', 'acknowledged', 'open'], status), accepted_at, id
          limit full_node.beyond
        ) as surplus
      )
      returning node_id, domain_id, status
    )
    select node_id, domain_id, status, count(*)::integer as count
    from dropped group by node_id, domain_id, status order by node_id, status`.execute(tx)
  return rows
}
