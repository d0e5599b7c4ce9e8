import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countSelected,
  namedDefinitions,
  readSelected,
  type SelectedObjects,
} from '../../../src/server/labels/selector-query.ts'
import { pageRange, type PagePosition } from '../../../src/server/ports/page-range.ts'
import { byKindAndId } from '../../../src/server/sql/keyset.ts'
import type { LabelKind } from '../../../src/shared/labels/label-kinds.ts'
import type { BoundSelector } from '../../../src/shared/selectors/bind-selector.ts'
import { matches } from '../../../src/shared/selectors/evaluate-selector.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import {
  DOMAINS,
  effectiveLabelsOf,
  labelWorlds,
  OBJECTS,
  PROJECTS,
  selectorsOver,
  storeWorld,
  type LabelWorld,
  type WorldObject,
} from '../../support/labels/label-world.ts'

const SCOPES = [{}, { domainId: DOMAINS[0] }, { domainId: DOMAINS[0], projectId: PROJECTS[1] }]
const KINDS: readonly (LabelKind | undefined)[] = [undefined, 'node', 'resource', 'network', 'project', 'cloud']

/** Few enough that objects are also read in the order of an index, and so many that they never are. */
const GATHERED = [0, 3, 2_000]

const questions = labelWorlds.chain((world) =>
  fc.record({
    world: fc.constant(world),
    asked: fc.array(
      fc.record({
        bound: selectorsOver(world.definitions),
        scope: fc.constantFrom(...SCOPES),
        kind: fc.constantFrom(...KINDS),
        gatheredMax: fc.constantFrom(...GATHERED),
        pageSize: fc.constantFrom(1, 3, 50),
      }),
      { minLength: 8, maxLength: 8 },
    ),
  }),
)

interface Question extends SelectedObjects {
  readonly bound: BoundSelector
}

function isAsked({ scope: { domainId, projectId }, kind }: Question, object: WorldObject): boolean {
  if (domainId !== undefined && object.domain_id !== domainId) return false
  if (projectId !== undefined && object.project_id !== projectId) return false
  return kind === undefined || object.kind === kind || (object.kind === 'resource' && object.subkind === kind)
}

function expected(world: LabelWorld, question: Question): string[] {
  return OBJECTS.filter(
    (object) => isAsked(question, object) && matches(question.bound, effectiveLabelsOf(world, object)),
  ).map((object) => shownAs(object, namedLabels(world, question.bound, object)))
}

function namedLabels(world: LabelWorld, bound: BoundSelector, object: WorldObject): readonly (string | null)[] {
  const labels = effectiveLabelsOf(world, object)
  return namedDefinitions(bound).map(({ id }) => (labels.has(id) ? String(labels.get(id)) : null))
}

function shownAs({ kind, id }: Pick<WorldObject, 'kind' | 'id'>, labels: readonly (string | null)[]): string {
  return `${kind}:${id} ${JSON.stringify(labels)}`
}

describe.each(STORES)('Objects that a selector matches, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')

    async function walked(question: Question, size: number): Promise<string[]> {
      const found: string[] = []
      let position: PagePosition | undefined
      for (;;) {
        const rows = await readSelected(db(), question, pageRange(position, size))
        const page = rows.slice(0, size)
        found.push(...page.map((row) => shownAs(row, row.labels)))
        const last = page.at(-1)
        if (rows.length <= size || last === undefined) return found
        position = byKindAndId.positionOf(last)
      }
    }

    it('are those of the shared evaluator over naively computed effective labels, each once, in order, on every page', async () => {
      let matched = 0
      await fc.assert(
        fc.asyncProperty(questions, async ({ world, asked }) => {
          await storeWorld(db(), world)
          for (const { pageSize, ...question } of asked) {
            const names = expected(world, question)
            expect(await walked(question, pageSize)).toEqual(names)
            const { counts, isComplete } = await countSelected(db(), question, 1_000)
            expect(isComplete).toBe(true)
            const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
            expect(total).toBe(names.length)
            matched += names.length > 0 ? 1 : 0
          }
        }),
        { numRuns: 60 },
      )
      expect(matched).toBeGreaterThan(60)
    })
  })
})
