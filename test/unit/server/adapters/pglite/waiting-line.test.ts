import { expect, test } from 'vitest'
import { createWaitingLine } from '../../../../../src/server/adapters/pglite/waiting-line.ts'

test('who came first is served first', () => {
  const line = createWaitingLine<string>(3)
  for (const name of ['a', 'b', 'c']) line.join(name)
  expect([line.serve(), line.serve(), line.serve(), line.serve()]).toEqual(['a', 'b', 'c', undefined])
  expect(line.isEmpty()).toBe(true)
})

test.each([
  ['the first', 'a', ['b', 'c']],
  ['one in the middle', 'b', ['a', 'c']],
  ['the last', 'c', ['a', 'b']],
])('%s leaves, and the others keep their order', (_which, leaver, left) => {
  const line = createWaitingLine<string>(3)
  const leaves = new Map(['a', 'b', 'c'].map((name) => [name, line.join(name)]))
  leaves.get(leaver)?.()
  leaves.get(leaver)?.()
  expect([line.serve(), line.serve(), line.serve()]).toEqual([...left, undefined])
})

test('a full line takes nobody until somebody was served or left', () => {
  const line = createWaitingLine<string>(2)
  const leave = line.join('a')
  line.join('b')
  expect(line.join('c')).toBeUndefined()
  leave?.()
  expect(line.join('d')).toBeTypeOf('function')
  expect(line.join('e')).toBeUndefined()
  expect(line.serve()).toBe('b')
  expect(line.join('f')).toBeTypeOf('function')
})

test('leaving after being served takes nobody else out', () => {
  const line = createWaitingLine<string>(2)
  const leave = line.join('a')
  expect(line.serve()).toBe('a')
  line.join('b')
  leave?.()
  expect(line.serve()).toBe('b')
})
