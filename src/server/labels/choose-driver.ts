import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { StoredLabelKind } from '../../shared/labels/label-kinds.ts'
import type { BoundRequirement } from '../../shared/selectors/bind-selector.ts'
import type { QueryScope } from '../../shared/selectors/definition.ts'
import type { Db } from '../ports/datastore.ts'
import {
  objectsOf,
  sortedObjectsOf,
  type DrivingRequirement,
  type KindCondition,
  type LabelledPlaces,
  type ListRequirement,
  type ObjectRows,
} from './label-rows.ts'
import { labelTest } from './selector-sql.ts'

/**
 * Objects that are gathered and sorted, at most. A requirement that fewer objects meet drives the statement whatever its form;
 * beyond it objects are read in the order of the page, until the page is full. What an index delivers in that order is never
 * gathered.
 */
export const GATHERED_MAX = 2_000

/** Parts of a driver that are merged, at most: each is an index scan that is open while the page is read. */
const PARTS_MAX = 16

/** Objects to which a search is restricted: stored kinds and ids side by side, each object once. */
export interface Candidates {
  readonly kinds: readonly StoredLabelKind[]
  readonly ids: readonly string[]
}

/** What a driver is chosen for. */
interface Selected {
  readonly bound: { readonly requirements: readonly BoundRequirement[] }
  readonly scope: QueryScope
  /** Instead of the objects of the scope, where these are given. */
  readonly among?: Candidates | undefined
  /** Objects that are gathered and sorted, at most. Default: `GATHERED_MAX`. */
  readonly gatheredMax?: number | undefined
}

/** How many objects meet a requirement, and which places pass its label on. */
interface Estimate {
  readonly requirement: DrivingRequirement
  /** At most one more than are gathered. */
  readonly count: number
  readonly places: LabelledPlaces
}

/** Where a statement begins. */
export interface Driver {
  /** Objects that may match, each once. */
  readonly rows: ObjectRows
  /** The requirement that all of them meet, so that it need not be looked at again. */
  readonly met?: BoundRequirement
}

/**
 * Chooses the objects that are looked at for a selector: those of the requirement that the fewest meet, or of the scope where that
 * has fewer. `!=`, `notin` and `!` never drive. Counts are bounded and taken in one statement.
 */
export async function chooseDriver(db: Db, selected: Selected, isKind: KindCondition): Promise<Driver> {
  const { bound, gatheredMax = GATHERED_MAX } = selected
  const driving = bound.requirements.filter((requirement) => isDriving(requirement))
  const { isAll, rows } = outsetOf(selected, isKind)
  const [only, ...others] = driving
  if (only === undefined) return { rows }
  if (others.length === 0 && isAll && isSortedByIndex(only))
    return sortedDriver({ requirement: only, places: NO_PLACES }, isKind)
  const estimated = await estimate(db, driving, { isKind, ofScope: isAll ? undefined : rows, gatheredMax })
  return bestOf(estimated, gatheredMax, isKind) ?? { rows }
}

/** The fewest objects; undefined where these are those of the scope, or no requirement delivers them in the order of the page. */
function bestOf({ inScope, estimates }: Estimated, gatheredMax: number, isKind: KindCondition): Driver | undefined {
  const best = estimates.reduce((one, other) => (other.count < one.count ? other : one))
  if (inScope < best.count) return undefined
  if (best.count <= gatheredMax && !isMergeable(best))
    return { rows: sql<never>`select distinct kind, id from (${objectsOf(best.requirement, isKind)}) as gathered` }
  const sorted = isMergeable(best) ? best : estimates.find((one) => isMergeable(one))
  return sorted && sortedDriver(sorted, isKind)
}

const NO_PLACES: LabelledPlaces = { projects: [], domains: [] }

function isDriving(requirement: BoundRequirement): requirement is DrivingRequirement {
  return requirement.op !== 'absent' && requirement.op !== 'notin'
}

function isListed(requirement: DrivingRequirement): requirement is ListRequirement {
  return requirement.op === 'in'
}

/** Whether an index delivers its objects in the order of the page without knowing more. */
function isSortedByIndex(requirement: DrivingRequirement): boolean {
  return isListed(requirement) && !requirement.definition.inherit && requirement.values.length <= PARTS_MAX
}

function isMergeable({ requirement, places: { projects, domains } }: Estimate): boolean {
  return isListed(requirement) && requirement.values.length + projects.length + domains.length <= PARTS_MAX
}

function sortedDriver({ requirement, places }: Omit<Estimate, 'count'>, isKind: KindCondition): Driver {
  if (!isListed(requirement)) throw new Error('only a list of values is read in order')
  return { rows: sortedObjectsOf(requirement, isKind, places), met: requirement }
}

/** Where a statement begins if no requirement drives it, and whether that is every object. */
function outsetOf({ scope, among }: Selected, isKind: KindCondition) {
  if (among !== undefined) return { isAll: false, rows: candidateRows(among, isKind) }
  const isAll = scope.domainId === undefined && scope.projectId === undefined
  return { isAll, rows: scopeRows(scope, isKind) }
}

function scopeRows({ domainId, projectId }: QueryScope, isKind: KindCondition): ObjectRows {
  const conditions = [
    isKind,
    ...(domainId === undefined ? [] : [sql`domain_id = ${domainId}`]),
    ...(projectId === undefined ? [] : [sql`project_id = ${projectId}`]),
  ]
  return sql<never>`select kind, id from label_objects where ${sql.join(conditions, sql` and `)}`
}

/** The condition that an object may be one of the candidates: ids of two kinds are hardly ever the same. */
export function amongIds({ ids }: Candidates, id: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`${id} = any(${ids}::uuid[])`
}

function candidateRows({ kinds, ids }: Candidates, isKind: KindCondition): ObjectRows {
  return sql<never>`select kind, id from unnest(${kinds}::text[], ${ids}::uuid[]) as candidate (kind, id) where ${isKind}`
}

interface Estimated {
  /** Infinity where the scope is the platform. */
  readonly inScope: number
  readonly estimates: readonly Estimate[]
}

interface Asked {
  readonly isKind: KindCondition
  readonly ofScope: ObjectRows | undefined
  readonly gatheredMax: number
}

async function estimate(
  db: Db,
  driving: readonly DrivingRequirement[],
  { isKind, ofScope, gatheredMax }: Asked,
): Promise<Estimated> {
  const counted = driving.map((requirement) => countOf(objectsOf(requirement, isKind), gatheredMax))
  const { rows } = await sql<{ in_scope: number | null; counts: number[]; places: (string[] | null)[] }>`
    select ${ofScope === undefined ? sql`null::int` : countOf(ofScope, gatheredMax)} as in_scope,
      array[${sql.join(counted)}]::int[] as counts,
      json_build_array(${sql.join(driving.map((requirement) => placesOf(requirement)))}) as places`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the estimate of a selector has no row')
  const estimates = driving.map((requirement, at) => ({
    requirement,
    count: row.counts[at] ?? 0,
    places: toPlaces(row.places[at] ?? []),
  }))
  return { inScope: row.in_scope ?? Infinity, estimates }
}

function countOf(rows: ObjectRows, gatheredMax: number): RawBuilder<number> {
  return sql<number>`(select count(*)::int from (select from (${rows}) as met limit ${gatheredMax + 1}) as bounded)`
}

/** Projects and Domains with the label of an inherited requirement, one more than can be merged. */
function placesOf(requirement: DrivingRequirement): RawBuilder<unknown> {
  if (!isListed(requirement) || !requirement.definition.inherit) return sql`'[]'::json`
  return sql`(select json_agg(place.reference) from (
    select label.kind || ':' || label.object_id as reference from label_assignments as label
    where label.definition_id = ${requirement.definition.id} and label.kind in ('project', 'domain')
      and ${labelTest(requirement)} limit ${PARTS_MAX + 1}) as place)`
}

function toPlaces(references: readonly string[]): LabelledPlaces {
  const idsOf = (kind: string): string[] =>
    references.filter((text) => text.startsWith(`${kind}:`)).map((text) => text.slice(kind.length + 1))
  return { projects: idsOf('project'), domains: idsOf('domain') }
}
