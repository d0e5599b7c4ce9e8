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
