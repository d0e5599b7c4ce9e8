import { describe, expect, test } from 'vitest'
import { createSecondChanceMap, type SecondChanceMap } from '../../../src/shared/second-chance-map.ts'

function keysIn(map: SecondChanceMap<number>, keys: string): string {
  return keys
    .split('')
    .filter((key) => map.peek(key) !== undefined)
    .join('')
}

function filled(entriesMax: number, keys: string): SecondChanceMap<number> {
  const map = createSecondChanceMap<number>(entriesMax)
  for (const key of keys) map.set(key, 0)
  return map
}

describe('A full map', () => {
  test('evicts the entry that was added longest ago', () => {
    expect(keysIn(filled(3, 'abcde'), 'abcde')).toBe('cde')
  })

  test('passes over an entry that was read, once', () => {
    const map = filled(3, 'abc')
    map.get('a')
    map.set('d', 0)
    expect(keysIn(map, 'abcd')).toBe('acd')
    for (const key of 'ef') map.set(key, 0)
    expect(keysIn(map, 'acdef')).toBe('def')
  })

  test('passes over an entry that got another value', () => {
    const map = filled(3, 'abc')
    map.set('a', 1)
    map.set('d', 0)
    expect([keysIn(map, 'abcd'), map.peek('a')]).toEqual(['acd', 1])
  })

  test('evicts one entry where all were read', () => {
    const map = filled(3, 'abc')
    for (const key of 'abc') map.get(key)
    map.set('d', 0)
    expect(keysIn(map, 'abcd')).toBe('bcd')
  })

  test('does not count a peek as a use', () => {
    const map = filled(3, 'abc')
    map.peek('a')
    map.set('d', 0)
    expect(keysIn(map, 'abcd')).toBe('bcd')
  })

  test('reports what it evicts, and nothing that is deleted', () => {
    const evicted: [string, number][] = []
    const map = createSecondChanceMap<number>(2, (key, value) => evicted.push([key, value]))
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index)
    map.delete('b')
    map.clear()
    expect(evicted).toEqual([['a', 0]])
  })
})

describe('A deletion', () => {
  test('makes room for one entry', () => {
    const map = filled(3, 'abc')
    map.delete('b')
    map.set('d', 0)
    expect(keysIn(map, 'abcd')).toBe('acd')
  })

  test('of a key that is not there changes nothing', () => {
    const map = filled(2, 'ab')
    map.delete('x')
    expect(keysIn(map, 'ab')).toBe('ab')
  })

  test('of every entry leaves a map that fills again', () => {
    const map = filled(3, 'abcd')
    for (const key of 'dcb') map.delete(key)
    for (const key of 'efgh') map.set(key, 0)
    expect(keysIn(map, 'abcdefgh')).toBe('fgh')
  })

  test('between evictions keeps the map within its bound and every other entry findable', () => {
    const map = createSecondChanceMap<number>(5)
    const expected = new Map<string, number>()
    for (let step = 0; step < 2_000; step++) {
      const key = `k${(step * 7) % 23}`
      if (step % 3 === 0) map.delete(key)
      else map.set(key, step)
      if (step % 3 === 0) expected.delete(key)
      else expected.set(key, step)
      const held = [...expected].filter(([name, value]) => map.peek(name) === value)
      expect(held.length).toBeLessThanOrEqual(5)
      if (step % 3 !== 0) expect(map.peek(key)).toBe(step)
    }
  })
})

test('A cleared map is empty and fills again', () => {
  const map = filled(2, 'abc')
  map.clear()
  for (const key of 'de') map.set(key, 0)
  expect(keysIn(map, 'abcde')).toBe('de')
})
