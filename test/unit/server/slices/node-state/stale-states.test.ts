import { expect, test } from 'vitest'
import { createStaleStates, type PulledState } from '../../../../../src/server/slices/node-state/stale-states.ts'

const pulled = (nodeRevision: number, peers = 1): PulledState => ({
  own: { domainId: 'home', nodeRevision, head: new Uint8Array(), tail: new Uint8Array() },
  peers,
  etag: `"${nodeRevision}-${peers}"`,
})

test('a state is given again within the TTL, and not after it', () => {
  const states = createStaleStates({ ttlMs: 100, entriesMax: 10 })
  states.keep('a', pulled(1), 1_000)
  expect([states.find('a', 1_100)?.own.nodeRevision, states.find('a', 1_101), states.find('b', 1_000)]).toEqual([
    1,
    undefined,
    undefined,
  ])
})

test('one that was found unchanged is as fresh as if it had been pulled, and another one is not', () => {
  const states = createStaleStates({ ttlMs: 100, entriesMax: 10 })
  states.keep('a', pulled(1), 1_000)
  states.confirm('a', { peers: 4, node: 1, etag: '"1-4"' }, 1_090)
  states.confirm('b', { peers: 4, node: 1, etag: '"1-4"' }, 1_090)
  expect(states.find('a', 1_190)).toMatchObject(pulled(1, 4))
  expect(states.find('b', 1_090)).toBeUndefined()
})

test('one is gone with the news that the node has a newer one', () => {
  const states = createStaleStates({ ttlMs: 100, entriesMax: 10 })
  states.keep('a', pulled(1), 1_000)
  states.confirm('a', { peers: 1, node: 2, etag: '"2-1"' }, 1_010)
  expect(states.find('a', 1_010)).toBeUndefined()
})

test('of too many the one that was pulled longest ago goes', () => {
  const states = createStaleStates({ ttlMs: 100, entriesMax: 2 })
  for (const id of ['a', 'b', 'a', 'c']) states.keep(id, pulled(1), 0)
  expect(['a', 'b', 'c'].map((id) => states.find(id, 0) !== undefined)).toEqual([true, false, true])
})

test('one that is dropped is gone', () => {
  const states = createStaleStates({ ttlMs: 100, entriesMax: 2 })
  states.keep('a', pulled(1), 0)
  states.drop('a')
  expect(states.find('a', 0)).toBeUndefined()
})

test.each([
  ['a TTL of 0', { ttlMs: 0, entriesMax: 10 }],
  ['no entries', { ttlMs: 100, entriesMax: 0 }],
])('%s keeps nothing', (_what, options) => {
  const states = createStaleStates(options)
  states.keep('a', pulled(1), 0)
  expect(states.find('a', 0)).toBeUndefined()
})
