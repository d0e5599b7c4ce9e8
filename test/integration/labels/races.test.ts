import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import type { Answer } from '../../support/server/control-plane.ts'

const ROUNDS = 12

describe.each(STORES)('Races over labels on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domainId: string
    const root = (operation: string, body?: unknown) => fleet.call(fleet.root, operation, body)
    const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body['code'])
    const keyOf = (localKey: string) => `domain:${domainId}/${localKey}`
    const define = (localKey: string, members: object = {}) =>
      root('POST /v1/label-definitions', {
        scope: `domain:${domainId}`,
        local_key: localKey,
        value_schema: { type: 'string' },
        ...members,
      })
    const put = (node: string, localKey: string, value = 'x') =>
      root(`PUT /v1/objects/node/${node}/labels`, { qualified_key: keyOf(localKey), value })
    const enrol = async (labels: object = {}) => (await fleet.enrol(domainId, {}, { labels })).node_id
    const assigned = (localKey: string) =>
      fleet.db
        .selectFrom('label_assignments')
        .select(['object_id', 'definition_id'])
        .where('qualified_key', '=', keyOf(localKey))
        .execute()

    beforeAll(async () => {
      fleet = await startFleet(store, { surfaces: ['labels'] })
      domainId = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    test('let one of several callers define a key', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => define('contested')))
      expect(answers.map(codeOf).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 'definition_conflict')])
    })

    test('let tokens define one key at the same time, once', async () => {
      const tokens = await Promise.all(
        Array.from({ length: 6 }, () =>
          root(`POST /v1/domains/${domainId}/join-tokens`, { labels: { silent: 'x', alike: 'y' } }),
        ),
      )
      expect(tokens.map(codeOf)).toEqual(Array.from({ length: 6 }, () => 201))
      const found = await fleet.db
        .selectFrom('label_definitions')
        .select('id')
        .where('local_key', 'in', ['silent', 'alike'])
        .execute()
      expect(found).toHaveLength(2)
    })

    test.each(['block', 'cascade', 'orphan'])(
      'leave no label behind a Definition that goes while it is put, where on_delete is %s',
      async (onDelete) => {
        const node = await enrol()
        for (let round = 0; round < ROUNDS; round++) {
          const localKey = `${onDelete}-${round}`
          const created = await define(localKey, { on_delete: onDelete })
          const id = String(created.body['id'])
          const [set, deleted] = await Promise.all([put(node, localKey), root(`DELETE /v1/label-definitions/${id}`)])
          const outcome = [codeOf(set), codeOf(deleted)]
          const labels = await assigned(localKey)
          if (outcome[0] === 'definition_not_found') expect([outcome[1], labels]).toEqual([204, []])
          else if (onDelete === 'block')
            expect([outcome, labels]).toEqual([[200, 'assignments_exist'], [{ object_id: node, definition_id: id }]])
          else if (onDelete === 'cascade') expect([outcome, labels]).toEqual([[200, 204], []])
          else expect([outcome, labels]).toEqual([[200, 204], [{ object_id: node, definition_id: null }]])
          const row = await fleet.db
            .selectFrom('nodes')
            .select('labels')
            .where('id', '=', node)
            .executeTakeFirstOrThrow()
          expect(Object.hasOwn(row.labels, localKey)).toBe(labels.length > 0)
        }
      },
    )

    test('end without a deadlock between a node that goes, its labels and their Definition', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const localKey = `going-${round}`
        const id = String((await define(localKey, { on_delete: 'cascade' })).body['id'])
        const [node, other] = [await enrol({ [localKey]: 'x' }), await enrol({ [localKey]: 'x' })]
        const answers = await Promise.all([
          root(`DELETE /v1/nodes/${node}`),
          root(`DELETE /v1/label-definitions/${id}`),
          root(`PATCH /v1/nodes/${other}`, { labels: { zone: String(round) } }),
          put(node, localKey, 'y'),
        ])
        expect(answers.slice(0, 3).map(codeOf)).toEqual([204, 204, 200])
        expect([200, 'definition_not_found', 'object_not_found', 'permission_denied']).toContain(
          codeOf(answers[3] ?? answers[0]),
        )
        expect(await assigned(localKey)).toEqual([])
      }
    })

    test('keep one value of an immutable label', async () => {
      await define('serial', { immutable: true })
      const node = await enrol()
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map((value) => put(node, 'serial', value)))
      expect(answers.map(codeOf).toSorted()).toEqual([
        200,
        'immutable_violation',
        'immutable_violation',
        'immutable_violation',
      ])
    })

    test('let no value past a schema that is narrowed meanwhile', async () => {
      const node = await enrol()
      for (let round = 0; round < ROUNDS; round++) {
        const localKey = `narrow-${round}`
        const id = String((await define(localKey)).body['id'])
        const [set, narrowed] = await Promise.all([
          put(node, localKey, 'long'),
          root(`PATCH /v1/label-definitions/${id}`, { value_schema: { type: 'string', maxLength: 1 } }),
        ])
        expect([
          [200, 'assignments_exist'],
          ['aggregate_invariant', 200],
        ]).toContainEqual([codeOf(set), codeOf(narrowed)])
      }
    })
  })
})
