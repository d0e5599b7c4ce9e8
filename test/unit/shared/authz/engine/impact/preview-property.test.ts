import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPreview } from '../../../../../../src/shared/authz/engine/impact/preview.ts'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../../../../src/shared/authz/engine/verdict.ts'
import { OBJECTS, schemas, tupleTexts } from '../../../../../support/authz/arbitraries.ts'
import { depth } from '../../../../../support/run/depth.ts'
import { engineOf, tuple } from '../../../../../support/authz/tuples.ts'

interface Edit {
  readonly op: 'create' | 'delete'
  readonly text: string
}

interface World {
  readonly schema: string
  readonly tuples: readonly string[]
  readonly edits: readonly Edit[]
  readonly verdicts: { readonly [caveat: string]: Verdict }
}

const verdict = fc.constantFrom<Verdict>(VIOLATED, UNKNOWN, YES)

/** Edits of which about half concern tuples that are there. */
const worlds = (operators: readonly string[]): fc.Arbitrary<World> =>
  fc
    .record({
      schema: schemas(operators),
      tuples: tupleTexts('acyclic'),
      others: tupleTexts('acyclic'),
      verdicts: fc.record({ weekday: verdict, inside: verdict }),
      picks: fc.array(fc.tuple(fc.constantFrom<Edit['op']>('create', 'delete'), fc.boolean(), fc.nat(1_000)), {
        minLength: 1,
        maxLength: 4,
      }),
    })
    .map(({ others, picks, ...world }) => {
      const edits = picks.map(([op, isThere, at]) => {
        const texts = isThere ? world.tuples : others
        return { op, text: texts[at % texts.length] ?? '' }
      })
      return { ...world, edits }
    })

const PERMISSIONS = ['first', 'second', 'third']
const RESOURCES = OBJECTS.filter((object) => /^fo|^fi/.test(object))
const STRANGERS: { readonly [type: string]: string } = { user: 'user:stranger', folder: 'folder:stranger' }
const NAMED = OBJECTS.filter((object) => /^user|^folder/.test(object))

function holdsOf({ verdicts }: World) {
  return ({ caveat }: { caveat: { name: string } | undefined }) => verdicts[caveat?.name ?? ''] ?? UNKNOWN
}

const typeOf = (reference: string): string => reference.slice(0, reference.indexOf(':'))

/** Every change, by asking everything of two engines. */
function bruteForce(world: World): string[] {
  const edited = new Set(world.tuples)
  for (const { op, text } of world.edits) {
    if (op === 'create') edited.add(text)
    else edited.delete(text)
  }
  const before = engineOf(world.schema, world.tuples, holdsOf(world))
  const after = engineOf(before.model, [...edited], holdsOf(world))
  return RESOURCES.flatMap((resource) =>
    PERMISSIONS.flatMap((permission) => {
      const changeOf = (subject: string): string => {
        const asked = `${resource}#${permission}@${subject}`
        const [had, has] = [before.ask(asked) === 'yes', after.ask(asked) === 'yes']
        if (had === has) return ''
        return has ? 'gains' : 'loses'
      }
      const changes = Object.entries(STRANGERS).map(([type, stranger]): [string, string] => [
        `${type}:*`,
        changeOf(stranger),
      ])
      const common = new Map(changes)
      for (const subject of NAMED) {
        const change = changeOf(subject)
        if (change !== common.get(`${typeOf(subject)}:*`)) changes.push([subject, change])
      }
      return changes
        .filter(([, change]) => change !== '')
        .map(([subject, change]) => `${subject} ${change} ${permission} on ${resource}`)
    }),
  ).toSorted()
}

function previewed(world: World): string[] {
  const engine = engineOf(world.schema, world.tuples, holdsOf(world))
  const preview = createPreview(engine)
  const edits = world.edits.map(({ op, text }) => ({ op, tuple: tuple(text) }))
  const impact = preview(edits, { holds: holdsOf(world), changesMax: 10_000 })
  if ('reason' in impact) throw new Error(`${impact.part} ${impact.reason}`)
  expect(impact.isComplete).toBe(true)
  expect(impact.count).toBe(impact.changes.length)
  expect(engine.index.edges.size).toBe(engineOf(engine.model, world.tuples).index.edges.size)
  expect(engine.index.objects.size).toBe(engineOf(engine.model, world.tuples).index.objects.size)
  for (const text of world.tuples) expect(engine.index.touch(tuple(text), 0)).toBe('unchanged')
  return impact.changes
    .map(({ subject, change, permission, resource }) => `${subject} ${change} ${permission} on ${resource}`)
    .toSorted()
}

const RUNS = depth({ ci: 30, deep: 3_000 })

test.each([
  ['unions and arrows', ['+']],
  ['intersections and exclusions', ['+', '&', '-', 'all']],
] as const)('a preview finds every change and no other: %s', (_, operators) => {
  fc.assert(
    fc.property(worlds(operators), (world) => {
      // A named subject that keeps what everyone else gains or loses is no change.
      expect(previewed(world)).toEqual(bruteForce(world))
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
