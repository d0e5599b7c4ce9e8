import { sql, type RawBuilder } from 'kysely'
import { storedKind, type LabelKind } from '../../shared/labels/label-kinds.ts'
import type { BoundSelector } from '../../shared/selectors/bind-selector.ts'
import type { QueryScope } from '../../shared/selectors/definition.ts'
import type { Db } from '../ports/datastore.ts'
import type { PageRange } from '../ports/page-range.ts'
import { byKindAndId } from '../sql/keyset.ts'
import { amongIds, chooseDriver, type Candidates, type Driver } from './choose-driver.ts'
import type { KindCondition } from './label-rows.ts'
import { effectiveLabel, selectorCondition, type ObjectColumns } from './selector-sql.ts'

/** Which objects a selector is asked about. */
export interface SelectedObjects {
  readonly bound: BoundSelector
  /** Objects of a Project, of a Domain, or, without both, all. */
  readonly scope: QueryScope
  /** One kind only. */
  readonly kind?: LabelKind | undefined
  /** Only these objects, by id: what matches is among them or is left out. Default: all. */
  readonly among?: Candidates | undefined
  /** Objects of one requirement that are gathered and sorted, at most; by default as measured. */
  readonly gatheredMax?: number
}

/** An object that a selector matches. */
export interface SelectedObject {
  /** Networks and workloads are of kind `resource`, and `subkind` is the kind of the resource. */
  readonly kind: string
  readonly id: string
  readonly subkind: string | null
  readonly domain_id: string | null
  readonly project_id: string | null
  /** Effective labels of the Definitions that the selector names, as text, by their order in `namedDefinitions`. */
  readonly labels: readonly (string | null)[]
}

const COLUMNS: ObjectColumns = {
  kind: sql.ref('object.kind'),
  id: sql.ref('object.id'),
  domainId: sql.ref('object.domain_id'),
  projectId: sql.ref('object.project_id'),
}

/** The Definitions that a selector names, each once. */
export function namedDefinitions({ requirements }: BoundSelector) {
  return [...new Map(requirements.map(({ definition }) => [definition.id, definition])).values()]
}

/** Reads a page of the objects that a selector matches, by kind and id. */
export async function readSelected(
  db: Db,
  selected: SelectedObjects,
  range: PageRange,
): Promise<readonly SelectedObject[]> {
  const driver = await chooseDriver(db, selected, kindCondition(selected, byKindAndId.follows(range)))
  const matching = byKindAndId.page(db.selectFrom(matchesOf(selected, driver).as('found')).selectAll(), range)
  const labels = namedDefinitions(selected.bound).map((definition) => effectiveLabel(definition, COLUMNS))
  const { rows } = await sql<SelectedObject>`
    select object.kind, object.id, object.subkind, object.domain_id, object.project_id,
      array[${sql.join(labels)}]::text[] as labels
    from (${matching}) as object order by object.kind, object.id`.execute(db)
  return rows
}

/** Matching objects by the kind under which they are stored, counted up to so many. */
export interface SelectedCounts {
  readonly counts: Readonly<Record<string, number>>
  /** Whether all of them were counted. */
  readonly isComplete: boolean
}

/** Counts the objects that a selector matches, and stops behind `countedMax`. */
export async function countSelected(db: Db, selected: SelectedObjects, countedMax: number): Promise<SelectedCounts> {
  const driver = await chooseDriver(db, selected, kindCondition(selected))
  const { rows } = await sql<{ kind: string; count: number }>`
    select found.kind, count(*)::int as count
    from (${matchesOf(selected, driver)} limit ${countedMax + 1}) as found group by found.kind order by found.kind`.execute(
    db,
  )
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return { counts: Object.fromEntries(rows.map(({ kind, count }) => [kind, count])), isComplete: total <= countedMax }
}

/** Restricts what a driver delivers by what the index of every driver has: kind, and the position of the page. */
function kindCondition({ kind }: SelectedObjects, follows: RawBuilder<unknown> = sql`true`): KindCondition {
  return kind === undefined ? follows : sql`kind = ${storedKind(kind)} and ${follows}`
}

/** The order of the driver is kept, since each of its objects is looked up by itself. */
function matchesOf({ bound, scope, kind, among }: SelectedObjects, { rows, met }: Driver) {
  const requirements = bound.requirements.filter((requirement) => requirement !== met)
  const isOfSubkind = kind !== undefined && storedKind(kind) !== kind
  const conditions = [
    selectorCondition({ requirements }, COLUMNS),
    ...(isOfSubkind ? [sql`object.subkind = ${kind}`] : []),
    ...placeConditions(scope),
    ...(among === undefined ? [] : [amongIds(among, sql.ref('object.id'))]),
  ]
  return sql<Omit<SelectedObject, 'labels'>>`(
    select driver.kind, driver.id, object.subkind, object.domain_id, object.project_id
    from (${rows}) as driver
    cross join lateral (
      select kind, id, subkind, domain_id, project_id from label_objects as place
      where place.kind = driver.kind and place.id = driver.id offset 0
    ) as object
    where ${sql.join(conditions, sql` and `)})`
}

function placeConditions({ domainId, projectId }: QueryScope) {
  return [
    ...(domainId === undefined ? [] : [sql`object.domain_id = ${domainId}`]),
    ...(projectId === undefined ? [] : [sql`object.project_id = ${projectId}`]),
  ]
}
