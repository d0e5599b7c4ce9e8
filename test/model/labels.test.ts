import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../support/datastores/stores.ts'
import { startLabelled, type Labelled } from '../support/labels/labelled.ts'
import { depth } from '../support/run/depth.ts'

const KEYS = ['a', 'b', 'c', 'd'] as const
const NODES = 2
/** Labels that each node has beside those of the model, so that three more fit. */
const FILLED = 61

type Key = (typeof KEYS)[number]
type OnDelete = 'block' | 'cascade' | 'orphan'

type Step =
  | { readonly does: 'define'; readonly key: Key; readonly onDelete: OnDelete; readonly immutable: boolean }
  | { readonly does: 'freeze' | 'undefine'; readonly key: Key }
  | { readonly does: 'put'; readonly key: Key; readonly node: number; readonly value: string }
  | { readonly does: 'take'; readonly key: Key; readonly node: number }

const key = fc.constantFrom(...KEYS)
const node = fc.nat(NODES - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('define' as const),
      key,
      onDelete: fc.constantFrom<OnDelete>('block', 'cascade', 'orphan'),
      immutable: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('undefine' as const), key }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('freeze' as const), key }) },
  {
    weight: 9,
    arbitrary: fc.record({ does: fc.constant('put' as const), key, node, value: fc.constantFrom('x', 'y') }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('take' as const), key, node }) },
)

interface Label {
  readonly value: string
  readonly isOrphan: boolean
}

/** What the model says of a step: the answer; the model itself has changed then. */
type Answer = number | string

/** Definitions and labels as maps, with the rules of the decisions and nothing else. */
class Model {
  readonly definitions = new Map<Key, { readonly onDelete: OnDelete; readonly immutable: boolean }>()
  readonly labels: readonly Map<Key, Label>[] = Array.from({ length: NODES }, () => new Map<Key, Label>())

  apply(one: Step): Answer {
    switch (one.does) {
      case 'define':
        return this.define(one.key, one)
      case 'undefine':
        return this.undefine(one.key)
      case 'freeze':
        return this.freeze(one.key)
      case 'put':
        return this.put(this.of(one.node), one.key, one.value)
      default:
        return this.take(this.of(one.node), one.key)
    }
  }

  of(at: number): Map<Key, Label> {
    const labels = this.labels[at]
    if (labels === undefined) throw new Error(`there is no node ${at}`)
    return labels
  }

  private define(
    at: Key,
    { onDelete, immutable }: { readonly onDelete: OnDelete; readonly immutable: boolean },
  ): Answer {
    if (this.definitions.has(at)) return 'definition_conflict'
    this.definitions.set(at, { onDelete, immutable })
    return 201
  }

  private freeze(at: Key): Answer {
    const found = this.definitions.get(at)
    if (found === undefined) return 'definition_not_found'
    this.definitions.set(at, { ...found, immutable: true })
    return 200
  }

  private undefine(at: Key): Answer {
    const found = this.definitions.get(at)
    if (found === undefined) return 'definition_not_found'
    const owners = this.labels.filter((labels) => labels.get(at)?.isOrphan === false)
    if (found.onDelete === 'block' && owners.length > 0) return 'assignments_exist'
    this.definitions.delete(at)
    for (const labels of owners) {
      const { value = '' } = labels.get(at) ?? {}
      if (found.onDelete === 'cascade') labels.delete(at)
      else labels.set(at, { value, isOrphan: true })
    }
    return 204
  }

  private put(labels: Map<Key, Label>, at: Key, value: string): Answer {
    const definition = this.definitions.get(at)
    if (definition === undefined) return 'definition_not_found'
    const present = labels.get(at)
    const isOwned = present?.isOrphan === false
    if (isOwned && present.value !== value && definition.immutable) return 'immutable_violation'
    if (present === undefined && labels.size + FILLED >= 64) return 'cardinality_exceeded'
    labels.set(at, { value, isOrphan: false })
    return 200
  }

  private take(labels: Map<Key, Label>, at: Key): Answer {
    if (labels.get(at)?.isOrphan === false && this.definitions.get(at)?.immutable === true) return 'immutable_violation'
    labels.delete(at)
    return 204
  }
}

describe.each(STORES)('Definitions and labels on the $name store', (store) => {
  describe.skipIf(store.missing)('as a model says', () => {
    let world: Labelled
    let domainId: string
    let nodes: readonly string[]
    const root = (operation: string, body?: unknown) => world.call(world.root, operation, body)
    const keyOf = (at: Key) => `domain:${domainId}/${at}`

    beforeAll(async () => {
      world = await startLabelled(store)
      domainId = await world.domain()
      nodes = [await world.member({ domainId }), await world.member({ domainId })]
      const filler = await world.define(`domain:${domainId}`, 'filler')
      await sql`
        insert into label_assignments
        select 'node', object.id, ${`domain:${domainId}/filler`} || n, ${filler}::uuid, 'x', 'string', null, 'user:x', now(), now()
        from label_objects as object, generate_series(1, ${FILLED}::int) as n where object.kind = 'node'`.execute(
        world.db,
      )
    })
    afterAll(() => world.stop())

    async function reset(): Promise<void> {
      const ofModel = KEYS.map(keyOf)
      await world.db.deleteFrom('label_assignments').where('qualified_key', 'in', ofModel).execute()
      await world.db.deleteFrom('label_definitions').where('qualified_key', 'in', ofModel).execute()
    }

    async function idOf(at: Key): Promise<string> {
      const rows = await world.db
        .selectFrom('label_definitions')
        .select('id')
        .where('qualified_key', '=', keyOf(at))
        .execute()
      return rows[0]?.id ?? world.ids.next()
    }

    async function send(one: Step): Promise<Answer> {
      const { status, body } = await call(one)
      return status < 300 ? status : String(body['code'])
    }

    async function call(one: Step) {
      switch (one.does) {
        case 'define':
          return root('POST /v1/label-definitions', {
            scope: `domain:${domainId}`,
            local_key: one.key,
            value_schema: { type: 'string' },
            on_delete: one.onDelete,
            immutable: one.immutable,
          })
        case 'freeze':
          return root(`PATCH /v1/label-definitions/${await idOf(one.key)}`, { immutable: true })
        case 'undefine':
          return root(`DELETE /v1/label-definitions/${await idOf(one.key)}`)
        case 'put':
          return world.put(`node/${nodes[one.node]}`, keyOf(one.key), one.value)
        default:
          return root(`DELETE /v1/objects/node/${nodes[one.node]}/labels?qualified_key=${keyOf(one.key)}`)
      }
    }

    async function expectSame(model: Model): Promise<void> {
      for (const [at, id] of nodes.entries()) {
        const expected = [...model.of(at)].toSorted(([a], [b]) => (a < b ? -1 : 1))
        const texts = (labels: typeof expected) => labels.map(([name, { value }]) => `${keyOf(name)}=${value}`)
        const shown = async (view: 'own' | 'effective') =>
          (await world.labelsOf(`node/${id}`, view)).filter((text) => !text.includes('/filler'))
        expect(await shown('own')).toEqual(texts(expected))
        expect(await shown('effective')).toEqual(texts(expected.filter(([, { isOrphan }]) => !isOrphan)))
        const row = await world.db.selectFrom('nodes').select('labels').where('id', '=', id).executeTakeFirstOrThrow()
        const cached = Object.entries(row.labels).filter(([name]) => !name.startsWith('filler'))
        expect(cached.toSorted()).toEqual(expected.map(([name, { value }]) => [name, value]))
      }
    }

    it('block, cascade, orphan, keep what is immutable and count to 64', { timeout: 240_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
          await reset()
          const model = new Model()
          for (const one of steps) {
            const expected = model.apply(one)
            expect([one, await send(one)]).toEqual([one, expected])
          }
          await expectSame(model)
        }),
        { numRuns: depth({ ci: 25, deep: 400 }) },
      )
    })
  })
})
