import { expect, test } from 'vitest'
import { createBoundedQueue } from '../../../../../src/server/adapters/pglite/bounded-queue.ts'

test('values are dequeued in the order in which they were added', () => {
  const queue = createBoundedQueue<string>(3)
  for (const name of ['a', 'b', 'c']) queue.enqueue(name)
  expect([queue.dequeue(), queue.dequeue(), queue.dequeue(), queue.dequeue()]).toEqual(['a', 'b', 'c', undefined])
  expect(queue.isEmpty()).toBe(true)
})

test.each([
  ['the first', 'a', ['b', 'c']],
  ['one in the middle', 'b', ['a', 'c']],
  ['the last', 'c', ['a', 'b']],
])('%s is removed, and the others keep their order', (_which, removed, left) => {
  const queue = createBoundedQueue<string>(3)
  const removals = new Map(['a', 'b', 'c'].map((name) => [name, queue.enqueue(name)]))
  removals.get(removed)?.()
  removals.get(removed)?.()
  expect([queue.dequeue(), queue.dequeue(), queue.dequeue()]).toEqual([...left, undefined])
})

test('a full queue accepts no value until one is dequeued or removed', () => {
  const queue = createBoundedQueue<string>(2)
  const remove = queue.enqueue('a')
  queue.enqueue('b')
  expect(queue.enqueue('c')).toBeUndefined()
  remove?.()
  expect(queue.enqueue('d')).toBeTypeOf('function')
  expect(queue.enqueue('e')).toBeUndefined()
  expect(queue.dequeue()).toBe('b')
  expect(queue.enqueue('f')).toBeTypeOf('function')
})

test('removing a dequeued value removes no other', () => {
  const queue = createBoundedQueue<string>(2)
  const remove = queue.enqueue('a')
  expect(queue.dequeue()).toBe('a')
  queue.enqueue('b')
  remove?.()
  expect(queue.dequeue()).toBe('b')
})
