import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ObjectTable } from '../../../../../src/shared/authz/engine/object-table.ts'
import { PairTable } from '../../../../../src/shared/authz/engine/pair-table.ts'
import { SetTable } from '../../../../../src/shared/authz/engine/set-table.ts'
import { readUuid, writeUuid } from '../../../../../src/shared/authz/engine/uuid-words.ts'

const steps = fc.array(fc.record({ a: fc.nat(12), b: fc.integer({ min: -3, max: 12 }), isAdd: fc.boolean() }), {
  minLength: 100,
  maxLength: 600,
})

test('a pair table finds what is in it and nothing else, however often rows come and go', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const table = new PairTable()
      const model = new Map<string, number>()
      for (const { a, b, isAdd } of history) {
        const key = `${a},${b}`
        const row = model.get(key)
        expect(table.find(a, b)).toBe(row ?? -1)
        if (isAdd && row === undefined) model.set(key, table.insert(a, b))
        if (!isAdd && row !== undefined) table.remove(row)
        if (!isAdd) model.delete(key)
      }
      expect(table.size).toBe(model.size)
      expect(new Set(model.values()).size).toBe(model.size)
      for (const [key, row] of model) expect(`${table.a(row)},${table.b(row)}`).toBe(key)
    }),
  )
})

test('a set table finds the sets of each object and no others, however often they come and go', () => {
  const FIRST = 5
  const members = fc.record({ at: fc.nat(5), member: fc.nat(8), isAdd: fc.boolean() })
  fc.assert(
    fc.property(fc.array(members, { minLength: 100, maxLength: 600 }), (history) => {
      const objects = new ObjectTable(1)
      const owners = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => objects.insert(0, id))
      const table = new SetTable(objects, { first: FIRST, extra: 0 })
      const model = new Map<string, number>()
      for (const { at, member, isAdd } of history) {
        const object = owners[at] ?? -1
        const key = `${object},${member}`
        const set = model.get(key)
        expect(table.find(object, member)).toBe(set ?? -1)
        if (isAdd && set === undefined) model.set(key, table.insert(object, member))
        if (!isAdd && set !== undefined) table.remove(set)
        if (!isAdd) model.delete(key)
      }
      expect(table.size).toBe(model.size)
      for (const [key, set] of model) expect(`${table.objectOf(set)},${table.memberOf(set)}`).toBe(key)
      for (const object of owners) {
        const isLeft = [...model.keys()].some((key) => key.startsWith(`${object},`))
        expect(objects.cell(object, FIRST) !== -1).toBe(isLeft)
      }
    }),
  )
})

test('an object that there is not has no sets', () => {
  expect(new SetTable(new ObjectTable(1), { first: 5, extra: 0 }).find(-1, 0)).toBe(-1)
})

test('an object table finds what is in it and nothing else, UUIDs and other ids', () => {
  const ids = fc.oneof(
    fc.nat(40).map((at) => `00000000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`),
    fc.constantFrom('main', '*', 'x'),
  )
  const history = fc.array(fc.record({ type: fc.nat(2), id: ids, isAdd: fc.boolean() }), { maxLength: 400 })
  fc.assert(
    fc.property(history, (all) => {
      const table = new ObjectTable()
      const model = new Map<string, number>()
      for (const { type, id, isAdd } of all) {
        const row = model.get(`${type}:${id}`)
        expect(table.find(type, `t:${id}`, 2)).toBe(row ?? -1)
        if (isAdd && row === undefined) model.set(`${type}:${id}`, table.insert(type, id))
        if (!isAdd && row !== undefined) table.remove(row)
        if (!isAdd) model.delete(`${type}:${id}`)
      }
      for (const [key, row] of model) expect(`${table.typeOf(row)}:${table.idOf(row)}`).toBe(key)
    }),
  )
})

test('a UUID is read and written back as it was', () => {
  const words = new Int32Array(4)
  for (const id of ['01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
    expect(readUuid(`user:${id}`, 5, words)).toBe(true)
    expect(writeUuid(words, 0)).toBe(id)
  }
})

test.each([
  ['capitals', '01935B5E-8F3A-7C61-9D0A-3F5F3C1D2E4B'],
  ['a letter past f', '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4g'],
  ['a hyphen out of place', '01935b5e8-f3a-7c61-9d0a-3f5f3c1d2e4b'],
  ['a character beyond ASCII that shares its low bits with a digit', '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4\u00b0'],
  ['one character less', '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4'],
  ['one character more', '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b0'],
])('%s make no canonical UUID', (_, text) => {
  expect(readUuid(text, 0, new Int32Array(4))).toBe(false)
})
