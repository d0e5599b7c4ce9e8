import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { UndecidableError } from '../../../../../../src/shared/authz/engine/undecidable.ts'
import { createLookups } from '../../../../../../src/shared/authz/engine/lookup/lookups.ts'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../../../../src/shared/authz/engine/verdict.ts'
import { OBJECTS, schemas, tupleTexts, type Shape } from '../../../../../support/authz/arbitraries.ts'
import { depth } from '../../../../../support/run/depth.ts'
import { engineOf } from '../../../../../support/authz/tuples.ts'

interface World {
  readonly schema: string
  readonly tuples: readonly string[]
  readonly verdicts: { readonly [caveat: string]: Verdict }
}

const caveats = fc.record({
  weekday: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
  inside: fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES),
})

const worlds = (operators: readonly string[], shape: Shape): fc.Arbitrary<World> =>
  fc.record({ schema: schemas(operators), tuples: tupleTexts(shape), verdicts: caveats })

const RUNS = depth({ ci: 60, deep: 5_000 })

function forAll(world: fc.Arbitrary<World>, holds: (world: World) => void): void {
  fc.assert(fc.property(world, holds), { numRuns: RUNS })
}

const NAMES = ['reader', 'first', 'second', 'third']
const objectsOf = (type: string) => OBJECTS.filter((object) => object.startsWith(`${type}:`))
const UNDECIDED = ['undecided']

function decided<T>(work: () => T): T | typeof UNDECIDED {
  try {
    return work()
  } catch (error) {
    if (error instanceof UndecidableError) return UNDECIDED
    throw error
  }
}

function askersOf({ schema, tuples, verdicts }: World) {
  const holds = ({ caveat }: { caveat: { name: string } | undefined }) => verdicts[caveat?.name ?? ''] ?? UNKNOWN
  const engine = engineOf(schema, tuples, holds)
  const lookups = createLookups(engine)
  return { ...engine, lookups, holds }
}

const RESOURCES = ['folder', 'file'].flatMap((resourceType) =>
  NAMES.flatMap((relation) =>
    [...objectsOf('user'), 'user:stranger', 'folder:folder-0', 'group:group-1#member'].map((subject) => ({
      resourceType,
      relation,
      subject,
    })),
  ),
)

/** What a lookup finds, beside what checks of each object say. */
function resourcesBothWays(world: World): { readonly found: unknown; readonly checked: unknown }[] {
  const { lookups, holds, ask } = askersOf(world)
  return RESOURCES.map(({ resourceType, relation, subject }) => {
    const found = decided(() => {
      const all = lookups.resources({ subject, relation, resourceType }, holds)
      return 'reason' in all ? all : { yes: all.granted.toSorted(), unknown: all.conditional.toSorted() }
    })
    const having = (answer: string) =>
      objectsOf(resourceType)
        .filter((object) => ask(`${object}#${relation}@${subject}`) === answer)
        .toSorted()
    return { found, checked: decided(() => ({ yes: having('yes'), unknown: having('unknown') })) }
  })
}

/** What bounded lookups find, beside what the unbounded one does. */
function fewBothWays(world: World): { readonly found: unknown; readonly checked: unknown }[] {
  const { lookups, holds } = askersOf(world)
  return RESOURCES.flatMap((asking) => {
    const all = decided(() => lookups.resources(asking, holds))
    if (all === UNDECIDED || !('granted' in all)) return []
    const ids = all.granted.map((reference) => reference.slice(reference.indexOf(':') + 1)).toSorted()
    const count = ids.length + all.conditional.length
    return [0, 1, 2, count - 1, count, count + 1].map((objects) => {
      const found = lookups.fewResources(asking, holds, { objects, tuples: 10_000 })
      return { found: found === undefined ? 'more' : sortedIds(found), checked: count <= objects ? ids : 'more' }
    })
  })
}

const sortedIds = (found: object): unknown => (Array.isArray(found) ? found.toSorted() : found)

test('bounded lookups find all that is granted, or that there is more', () => {
  forAll(worlds(['+', '&', '-', 'all'], 'acyclic'), (world) => {
    for (const { found, checked } of fewBothWays(world)) expect(found).toEqual(checked)
  })
})

test('lookups that may look at few tuples find the same or nothing, and the next one finds everything', () => {
  forAll(worlds(['+', '&', '-', 'all'], 'acyclic'), (world) => {
    const { lookups, holds } = askersOf(world)
    for (const asking of RESOURCES) {
      const all = lookups.fewResources(asking, holds, { objects: 1_000, tuples: 100_000 })
      for (const tuples of [0, 1, 3, 20]) {
        const found = lookups.fewResources(asking, holds, { objects: 1_000, tuples })
        if (found !== undefined) expect(found).toEqual(all)
      }
      expect(lookups.fewResources(asking, holds, { objects: 1_000, tuples: 100_000 })).toEqual(all)
    }
  })
})

const SUBJECTS = [...objectsOf('folder'), ...objectsOf('file'), ...objectsOf('group')].flatMap((resource) =>
  (resource.startsWith('group') ? ['member'] : NAMES).flatMap((relation) =>
    ['user', 'folder'].map((subjectType) => ({ resource, relation, subjectType })),
  ),
)

function subjectsBothWays(world: World): { readonly found: unknown; readonly checked: unknown }[] {
  const { lookups, holds, ask } = askersOf(world)
  return SUBJECTS.map(({ resource, relation, subjectType }) => {
    const subjects = [...objectsOf(subjectType), `${subjectType}:stranger`]
    const found = decided(() => {
      const all = lookups.subjects({ subjectType, relation, resource }, holds)
      if ('reason' in all) return all
      return subjects.map((subject) => {
        if (all.granted.includes(subject)) return 'yes'
        if (all.conditional.includes(subject)) return 'unknown'
        if (all.wildcard === undefined || all.wildcard.excluded.includes(subject)) return 'no'
        return all.wildcard.verdict === 'granted' ? 'yes' : 'unknown'
      })
    })
    const checked = decided(() =>
      subjects.map((subject) => ask(`${resource}#${relation}@${subject}`).replace('violated', 'no')),
    )
    return { found, checked }
  })
}

test.each([
  ['resources', resourcesBothWays],
  ['subjects', subjectsBothWays],
])('lookups of %s find what checks allow', (_, bothWays) => {
  forAll(worlds(['+', '&', '-', 'all'], 'acyclic'), (world) => {
    for (const { found, checked } of bothWays(world)) expect(found).toEqual(checked)
  })
})

test.each([
  ['resources', resourcesBothWays],
  ['subjects', subjectsBothWays],
])('lookups of %s end and find what checks allow where groups and folders contain themselves', (_, bothWays) => {
  forAll(worlds(['+', '&', 'all'], 'any'), (world) => {
    for (const { found, checked } of bothWays(world)) expect(found).toEqual(checked)
  })
})

test.each([
  ['resources', resourcesBothWays],
  ['subjects', subjectsBothWays],
])('lookups of %s over exclusions in cycles are right or are not answered', (_, bothWays) => {
  forAll(worlds(['+', '&', '-', 'all'], 'any'), (world) => {
    for (const { found, checked } of bothWays(world)) {
      if (found !== UNDECIDED && checked !== UNDECIDED) expect(found).toEqual(checked)
    }
  })
})
