import fc from 'fast-check'
import type { Db } from '../../../src/server/ports/datastore.ts'
import type { BoundRequirement, BoundSelector } from '../../../src/shared/selectors/bind-selector.ts'
import type { Definition, LabelValue } from '../../../src/shared/selectors/definition.ts'

/** An object with its place, as the index of objects has it. */
export interface WorldObject {
  readonly kind: string
  readonly id: string
  readonly subkind: string | null
  readonly domain_id: string | null
  readonly project_id: string | null
}

interface WorldLabel {
  readonly object: WorldObject
  readonly definition: Definition
  readonly value: LabelValue
  /** Its Definition was deleted and the label kept. */
  readonly isOrphan: boolean
}

/** Labels of the objects of two Domains, three Projects and the platform. */
export interface LabelWorld {
  readonly definitions: readonly Definition[]
  readonly labels: readonly WorldLabel[]
}

const uuid = (group: number, number: number): string =>
  `0190000${group}-0000-7000-8000-${String(number).padStart(12, '0')}`

export const DOMAINS = [uuid(1, 1), uuid(1, 2)] as const
export const PROJECTS = [uuid(2, 1), uuid(2, 2), uuid(2, 3)] as const
const DOMAIN_OF_PROJECT = [DOMAINS[0], DOMAINS[0], DOMAINS[1]] as const

const PLACES: readonly Pick<WorldObject, 'domain_id' | 'project_id'>[] = [
  { domain_id: DOMAINS[0], project_id: null },
  { domain_id: DOMAINS[1], project_id: null },
  ...PROJECTS.map((project_id, at) => ({ domain_id: DOMAIN_OF_PROJECT[at] ?? null, project_id })),
]

/** Every object of a world, in the order of kind and id. */
export const OBJECTS: readonly WorldObject[] = [
  ...DOMAINS.map((id) => ({ kind: 'domain', id, subkind: null, domain_id: id, project_id: null })),
  ...PROJECTS.map((id, at) => ({
    kind: 'project',
    id,
    subkind: null,
    domain_id: DOMAIN_OF_PROJECT[at] ?? null,
    project_id: id,
  })),
  ...PLACES.flatMap((place, at) =>
    [0, 1, 2, 3].map((each) => ({ kind: 'node', id: uuid(3, at * 4 + each), subkind: null, ...place })),
  ),
  ...PLACES.slice(2).flatMap((place, at) =>
    ['bridge', 'network', 'workload'].map((subkind, each) => ({
      kind: 'resource',
      id: uuid(4, at * 3 + each),
      subkind,
      ...place,
    })),
  ),
  ...PLACES.slice(0, 2).map((place, at) => ({ kind: 'group', id: uuid(5, at), subkind: null, ...place })),
  { kind: 'cloud', id: uuid(6, 1), subkind: null, domain_id: null, project_id: null },
].toSorted((one, other) => (`${one.kind} ${one.id}` < `${other.kind} ${other.id}` ? -1 : 1))

const TYPES = ['string', 'integer', 'boolean'] as const
const VALUES: Readonly<Record<Definition['type'], readonly LabelValue[]>> = {
  string: ['a', 'b', '7', 'é "quoted"'],
  integer: [-3, 7, 10],
  boolean: [true, false],
}

const definitions: fc.Arbitrary<readonly Definition[]> = fc
  .array(fc.boolean(), { minLength: 6, maxLength: 6 })
  .map((inherits) =>
    inherits.map((inherit, at): Definition => {
      const localKey = `k${at}`
      const scope = { kind: 'platform' } as const
      const type = TYPES[at % TYPES.length] ?? 'string'
      return { id: uuid(7, at), scope, localKey, qualifiedKey: `platform/${localKey}`, type, inherit }
    }),
  )

/** Random labels of the objects. */
export const labelWorlds: fc.Arbitrary<LabelWorld> = definitions.chain((all) =>
  fc
    .uniqueArray(
      fc
        .record({
          object: fc.constantFrom(...OBJECTS),
          definition: fc.constantFrom(...all),
          at: fc.nat(3),
          isOrphan: fc.integer({ min: 0, max: 7 }).map((drawn) => drawn === 0),
        })
        .map(({ at, ...label }) => ({ ...label, value: valueAt(label.definition, at) })),
      { maxLength: 90, selector: ({ object, definition }) => `${object.kind} ${object.id} ${definition.id}` },
    )
    .map((labels) => ({ definitions: all, labels })),
)

function valueAt({ type }: Definition, at: number): LabelValue {
  const values = VALUES[type]
  return values[at % values.length] ?? ''
}

/** A random selector over the labels of a world. */
export function selectorsOver(all: readonly Definition[]): fc.Arbitrary<BoundSelector> {
  const requirement = fc.record({
    op: fc.constantFrom('exists', 'absent', 'in', 'in', 'in', 'notin', 'lt', 'gt'),
    definition: fc.constantFrom(...all),
    at: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
  })
  const bound = requirement.map(({ op, definition, at }): BoundRequirement => {
    if (op === 'exists' || op === 'absent') return { op, definition }
    if (op === 'in' || op === 'notin') return { op, definition, values: at.map((one) => valueAt(definition, one)) }
    const value = valueAt(definition, at[0] ?? 0)
    return typeof value === 'number' ? { op, definition, value } : { op: 'exists', definition }
  })
  return fc.array(bound, { maxLength: 4 }).map((requirements) => ({ requirements }))
}

/** The effective labels of an object, worked out label by label. */
export function effectiveLabelsOf({ labels }: LabelWorld, object: WorldObject): ReadonlyMap<string, LabelValue> {
  const effective = new Map<string, LabelValue>()
  const take = (from: { kind: string; id: string | null }, isInherited: boolean): void => {
    for (const { object: holder, definition, value, isOrphan } of labels) {
      if (isOrphan || holder.kind !== from.kind || holder.id !== from.id) continue
      if (isInherited && !definition.inherit) continue
      if (!effective.has(definition.id)) effective.set(definition.id, value)
    }
  }
  take(object, false)
  take({ kind: 'project', id: object.project_id }, true)
  take({ kind: 'domain', id: object.domain_id }, true)
  return effective
}

/** Stores a world in the place of the one before it. */
export async function storeWorld(db: Db, { definitions: all, labels }: LabelWorld): Promise<void> {
  const at = new Date(0)
  const times = { created_at: at, updated_at: at }
  await db.deleteFrom('label_assignments').execute()
  await db.deleteFrom('label_objects').execute()
  await db.deleteFrom('label_definitions').execute()
  await db
    .insertInto('label_objects')
    .values([...OBJECTS])
    .execute()
  await db
    .insertInto('label_definitions')
    .values(
      all.map(({ id, localKey, qualifiedKey, type, inherit }) => ({
        id,
        scope_kind: 'platform' as const,
        domain_id: null,
        project_id: null,
        local_key: localKey,
        qualified_key: qualifiedKey,
        description: '',
        value_schema: JSON.stringify({ type }),
        on_delete: 'orphan' as const,
        immutable: false,
        inherit,
        kinds: [],
        system: false,
        granted: true,
        ...times,
      })),
    )
    .execute()
  if (labels.length === 0) return
  await db
    .insertInto('label_assignments')
    .values(
      labels.map(({ object, definition, value, isOrphan }) => ({
        kind: object.kind,
        object_id: object.id,
        qualified_key: definition.qualifiedKey,
        definition_id: isOrphan ? null : definition.id,
        value: String(value),
        value_type: definition.type,
        number: typeof value === 'number' ? String(value) : null,
        assigned_by: 'user:test',
        ...times,
      })),
    )
    .execute()
}
