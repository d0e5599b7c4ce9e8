import { expect, test } from 'vitest'
import { createUuidV7 } from '../../../../../src/server/adapters/system/uuid-v7.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an id is a UUIDv7 of the clock instant', () => {
  const id = createUuidV7({ now: () => 0x01935b5e8f3a }).next()
  expect(id).toMatch(V7)
  expect(id.slice(0, 13)).toBe('01935b5e-8f3a')
})

test('ids rise strictly within one millisecond, past the end of its counter too', () => {
  const ids = createUuidV7({ now: () => 0x01935b5e8f3a })
  const made = Array.from({ length: 20_000 }, () => ids.next())
  expect(made.every((id, i) => i === 0 || id > (made[i - 1] ?? ''))).toBe(true)
  expect(made.every((id) => V7.test(id))).toBe(true)
})

test('ids rise when the clock steps back', () => {
  const instants = [2000, 1000, 1999, 2000, 2001]
  const ids = createUuidV7({ now: () => instants.shift() ?? 0 })
  const made = Array.from({ length: 5 }, () => ids.next())
  expect(made.toSorted()).toEqual(made)
  expect(made[4]?.slice(0, 13)).toBe('00000000-07d1')
})
