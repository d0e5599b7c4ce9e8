import { sql, type Selectable } from 'kysely'
import { labelFilterCondition, type FilteredColumns } from '../../labels/label-filter-sql.ts'
import type { LabelFilter } from '../../labels/label-filter.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { NodeIntegrityViolationRow } from '../../ports/tables/integrity.ts'
import { byAcceptedAtDescending } from '../../sql/keyset.ts'

/** A violation as stored, with the name of its node; null once that left. */
export type StoredViolation = Selectable<NodeIntegrityViolationRow> & { readonly node_name: string | null }

/** Which violations a list shows. */
export interface ViolationFilter {
  readonly domainId: string | undefined
  readonly projectId: string | undefined
  readonly nodeId: string | undefined
  readonly artifactId: string | undefined
  readonly kind: StoredViolation['kind'] | undefined
  readonly status: StoredViolation['status'] | undefined
  /** Of their nodes. A node that is gone has no labels, and matches no filter. */
  readonly labels: LabelFilter | undefined
}

const LABELLED: FilteredColumns = {
  kind: sql`'node'`,
  id: sql.ref('n.id'),
  domainId: sql.ref('n.domain_id'),
  projectId: sql.ref('n.project_id'),
  labels: sql.ref('n.labels'),
}

/** Reads violations, those with the newest first reports first. */
export function listViolations(db: Db, filter: ViolationFilter, range: PageRange): Promise<StoredViolation[]> {
  const { domainId, projectId, nodeId, artifactId, kind, status, labels } = filter
  let query = named(db)
  if (domainId !== undefined) query = query.where('domain_id', '=', domainId)
  if (projectId !== undefined) query = query.where('project_id', '=', projectId)
  if (nodeId !== undefined) query = query.where('node_id', '=', nodeId)
  if (artifactId !== undefined) query = query.where('artifact_id', '=', artifactId)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  // A literal, so that a generic plan can use the index of unresolved ones as well.
  if (status !== undefined) query = query.where('status', '=', sql.lit(status))
  if (labels !== undefined)
    query = query.where(
      'node_id',
      'in',
      sql<string>`(select n.id from nodes as n where ${labelFilterCondition(labels, LABELLED)})`,
    )
  return byAcceptedAtDescending.page(query, range).execute()
}

const named = (db: Db) => db.selectFrom('node_integrity_violations').selectAll().select(NODE_NAME)

/** One index access for each row of a page; a join would make every column of the filters ambiguous. */
const NODE_NAME = sql<string | null>`(select n.name from nodes as n where n.id = node_integrity_violations.node_id)`.as(
  'node_name',
)

/** A violation, of a Domain where one is given. */
export interface ViolationKey {
  readonly id: string
  readonly domainId: string | undefined
}

/** Reads a violation; undefined where there is none, or it is of another Domain. */
export function findViolation(db: Db, { id, domainId }: ViolationKey): Promise<StoredViolation | undefined> {
  const query = named(db).where('id', '=', id)
  return (domainId === undefined ? query : query.where('domain_id', '=', domainId)).executeTakeFirst()
}

/** What a person decided about a violation. */
export interface Acknowledgement extends ViolationKey {
  readonly reason: string
  readonly bySubject: string
  readonly at: Date
}

/** Acknowledges a violation that is open; undefined where there is none, or it is not open: of several callers one succeeds. */
export function acknowledge(
  tx: Db,
  { id, domainId, reason, bySubject, at }: Acknowledgement,
): Promise<StoredViolation | undefined> {
  const update = tx
    .updateTable('node_integrity_violations')
    .set({
      status: 'acknowledged',
      acknowledged_at: at,
      acknowledged_by_subject: bySubject,
      acknowledge_reason: reason,
    })
    .where('id', '=', id)
    .where('status', '=', 'open')
  return (domainId === undefined ? update : update.where('domain_id', '=', domainId))
    .returningAll()
    .returning(NODE_NAME)
    .executeTakeFirst()
}
