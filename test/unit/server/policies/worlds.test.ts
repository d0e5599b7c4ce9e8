import { expect, test } from 'vitest'
import type { Visibility } from '../../../../src/server/policies/visibility.ts'
import { visibleAmong, visibleIds, seeEachOther } from '../../../../src/server/policies/visible-ids.ts'
import { createWorlds } from '../../../../src/server/policies/worlds.ts'
import type { ReadWorld } from '../../../../src/server/policies/world-store.ts'
import type { WorldChanges, WorldNode } from '../../../../src/server/policies/world.ts'

const node = (nodeId: string, groups: readonly number[] = []): WorldNode => ({
  nodeId,
  meshAddress: '100.64.0.1',
  groups,
  policyIds: [],
})

function changes(revision: number, nodes: readonly WorldNode[], parts: Partial<WorldChanges> = {}): ReadWorld {
  const relays = { relay_node_id: null, second_relay_node_id: null }
  return { revision, changes: { revision, relays, isWhole: false, rules: new Map(), nodes, ...parts } }
}

/** A store whose reads end when the test says so. */
function heldStore() {
  const reads: {
    readonly since: number
    readonly answer: (read: ReadWorld) => void
    readonly fail: (error: unknown) => void
  }[] = []
  const read = (_domainId: string, since: number) =>
    new Promise<ReadWorld>((answer, fail) => void reads.push({ since, answer, fail }))
  return { reads, read }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const idsIn = (visibility: Visibility | undefined) => visibility?.world.ids

test('all who ask for a revision wait for one read, and later ones for none', async () => {
  const { reads, read } = heldStore()
  const worlds = createWorlds({ read })
  const asked = [worlds.at('d', 3), worlds.at('d', 3), worlds.at('d', 2)]
  await turn()
  expect(reads.map(({ since }) => since)).toEqual([-1])
  reads[0]?.answer(changes(3, [node('a'), node('b')], { isWhole: true }))
  const [one, two, three] = await Promise.all(asked)
  expect([idsIn(one), two === one, three === one]).toEqual([['a', 'b'], true, true])
  expect(await worlds.at('d', 3)).toBe(one)
  expect(reads).toHaveLength(1)
})

test('who asks for what was committed after a read began is answered by the next one', async () => {
  const { reads, read } = heldStore()
  const worlds = createWorlds({ read })
  const early = worlds.at('d', 1)
  const late = worlds.at('d', 2)
  reads[0]?.answer(changes(1, [node('a')], { isWhole: true }))
  expect(idsIn(await early)).toEqual(['a'])
  await turn()
  expect(reads[1]?.since).toBe(1)
  reads[1]?.answer(changes(2, [node('b')]))
  expect(idsIn(await late)).toEqual(['a', 'b'])
})

test('the latest is read each time, and what was computed stays while nothing changed', async () => {
  const { reads, read } = heldStore()
  const worlds = createWorlds({ read })
  const first = worlds.latest('d')
  reads[0]?.answer(changes(1, [node('a')], { isWhole: true }))
  const known = await first
  const second = worlds.latest('d')
  reads[1]?.answer(changes(1, []))
  expect(await second).toBe(known)
  const third = worlds.latest('d')
  reads[2]?.answer(changes(2, [node('a', [1])]))
  expect(await third).not.toBe(known)
})

test('a Domain whose nodes see all others has none, until its setting changes', async () => {
  const { reads, read } = heldStore()
  const worlds = createWorlds({ read })
  const open = worlds.latest('d')
  reads[0]?.answer({ revision: 4, changes: undefined })
  expect(await open).toBeUndefined()
  expect(await worlds.at('d', 4)).toBeUndefined()
  const filtered = worlds.at('d', 5)
  await turn()
  reads[1]?.answer(changes(5, [node('a')], { isWhole: true }))
  expect(idsIn(await filtered)).toEqual(['a'])
})

test('a read that fails fails those who wait for it, and the next one begins again', async () => {
  const { reads, read } = heldStore()
  const worlds = createWorlds({ read })
  const failing = worlds.latest('d')
  reads[0]?.fail(new Error('away'))
  await expect(failing).rejects.toThrow('away')
  const next = worlds.latest('d')
  reads[1]?.answer(changes(1, [node('a')], { isWhole: true }))
  expect(idsIn(await next)).toEqual(['a'])
})

test('nodes are chosen by who sees them; one that the world does not have sees nobody', async () => {
  const { reads, read } = heldStore()
  const asked = createWorlds({ read }).latest('d')
  const shut = '[{"action":"isolate","direction":"egress"},{"action":"isolate","direction":"ingress"}]'
  const nodes = [node('a'), node('b'), { ...node('c'), policyIds: ['p'] }]
  reads[0]?.answer(changes(1, nodes, { isWhole: true, rules: new Map([['p', shut]]) }))
  const visibility = await asked
  if (visibility === undefined) throw new Error('nothing was read')
  expect([
    [...visibleIds(visibility, 'a')],
    [...visibleIds(visibility, 'c')],
    [...visibleIds(visibility, 'x')],
  ]).toEqual([['b'], [], []])
  const ids = ['c', 'b', 'a']
  const seenBy = (of: Visibility | undefined) => visibleAmong(ids, (id) => id, { visibility: of, nodeId: 'a' })
  expect([seenBy(visibility), seenBy(undefined)]).toEqual([['b'], ids])
  const pairs = [
    ['a', 'b'],
    ['a', 'c'],
    ['a', 'x'],
  ] as const
  expect(pairs.map(([one, other]) => seeEachOther(visibility, one, other))).toEqual([true, false, false])
  expect(pairs.map(([one, other]) => seeEachOther(undefined, one, other))).toEqual([true, true, true])
})
