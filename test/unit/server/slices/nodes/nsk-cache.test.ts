import { expect, test } from 'vitest'
import { createNskCache, type KnownKey } from '../../../../../src/server/slices/nodes/nsk-cache.ts'

const key = (kid: string): KnownKey => ({
  kid,
  cacheKey: `digest of ${kid}`,
  retiresAtMs: undefined,
  answer: { refused: true, log: kid },
})

test('a kept key is found by its node and key id alone', () => {
  const cache = createNskCache(4)
  cache.keep('n1', key('a'))
  expect(cache.find('n1', 'a')).toEqual(key('a'))
  expect(cache.find('n1', 'b')).toBeUndefined()
  expect(cache.find('n2', 'a')).toBeUndefined()
})

test('both keys of a node in rotation are kept, and go together', () => {
  const cache = createNskCache(4)
  cache.keep('n1', key('a'))
  cache.keep('n1', key('b'))
  expect([cache.find('n1', 'a')?.kid, cache.find('n1', 'b')?.kid]).toEqual(['a', 'b'])
  cache.drop('n1')
  expect([cache.find('n1', 'a'), cache.find('n1', 'b')]).toEqual([undefined, undefined])
})

test('at most four keys of one node are kept, the newest', () => {
  const cache = createNskCache(4)
  for (const kid of ['a', 'b', 'c', 'd', 'e']) cache.keep('n1', key(kid))
  expect(['a', 'b', 'c', 'd', 'e'].map((kid) => cache.find('n1', kid)?.kid)).toEqual([undefined, 'b', 'c', 'd', 'e'])
})

test('a key that is kept again takes the place of what was known of it', () => {
  const cache = createNskCache(4)
  cache.keep('n1', key('a'))
  cache.keep('n1', { ...key('a'), retiresAtMs: 5 })
  expect(cache.find('n1', 'a')?.retiresAtMs).toBe(5)
})

test('the nodes used last stay, as many as promised; long unused ones go', () => {
  const cache = createNskCache(100)
  for (let n = 0; n < 100; n++) cache.keep(`n${n}`, key('a'))
  for (let n = 0; n < 100; n++) {
    expect(cache.find('n0', 'a')).toBeDefined()
    cache.keep(`later${n}`, key('a'))
  }
  for (let n = 0; n < 99; n++) expect(cache.find(`later${n + 1}`, 'a'), `later${n + 1}`).toBeDefined()
  expect(cache.find('n0', 'a')).toBeDefined()
})

test('never more than that number of nodes is held', () => {
  const cache = createNskCache(10)
  for (let n = 0; n < 1_000; n++) cache.keep(`n${n}`, key('a'))
  const held = Array.from({ length: 1_000 }, (_, n) => cache.find(`n${n}`, 'a')).filter((found) => found !== undefined)
  expect(held.length).toBe(10)
})

test('clearing forgets everything', () => {
  const cache = createNskCache(1)
  cache.keep('n1', key('a'))
  cache.keep('n2', key('a'))
  cache.clear()
  expect([cache.find('n1', 'a'), cache.find('n2', 'a')]).toEqual([undefined, undefined])
})
