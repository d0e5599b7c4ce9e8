import { expect, test } from 'vitest'
import { createBatching } from '../../../../src/server/http/batching.ts'

interface Item {
  readonly lane: string
  readonly name: string
}

/** Work that ends when the test says so. */
function heldWork() {
  const batches: { names: string; end: () => void; fail: (error: unknown) => void }[] = []
  const run = (items: readonly Item[]) =>
    new Promise<string[]>((resolve, reject) => {
      const names = items.map(({ name }) => name)
      batches.push({ names: names.join(''), end: () => resolve(names), fail: reject })
    })
  return { run, batches, names: () => batches.map((batch) => batch.names) }
}

const of = (lane: string) => (name: string) => ({ lane, name })
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what comes while a batch is on its way is in the next one, no more than allowed', async () => {
  const { run, batches, names } = heldWork()
  const ask = createBatching<Item, string>({ run, batchMax: 2, waitingMax: 10 })
  const answers = ['a', 'b', 'c', 'd'].map((name) => ask(of('x')(name)))
  expect(names()).toEqual(['a'])
  batches[0]?.end()
  await turn()
  expect(names()).toEqual(['a', 'bc'])
  batches[1]?.end()
  await turn()
  batches[2]?.end()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'])
})

test('a lane that is held up holds up no other, and its failure is its own', async () => {
  const { run, batches, names } = heldWork()
  const ask = createBatching<Item, string>({ run, laneOf: ({ lane }) => lane, batchMax: 2, waitingMax: 10 })
  const held = ['a', 'b'].map((name) => ask(of('x')(name)).catch(String))
  const others = ['c', 'd'].map((name) => ask(of('y')(name)))
  expect(names()).toEqual(['a', 'c'])
  batches[1]?.end()
  await turn()
  batches[2]?.end()
  expect(await Promise.all(others)).toEqual(['c', 'd'])
  batches[0]?.fail('late')
  expect(await Promise.all(held)).toEqual(['late', 'late'])
  const again = ask(of('x')('e'))
  batches.at(-1)?.end()
  expect(await again).toBe('e')
})

test('too many that wait are refused, in all lanes together', async () => {
  const { run } = heldWork()
  const ask = createBatching<Item, string>({ run, laneOf: ({ lane }) => lane, batchMax: 2, waitingMax: 2 })
  for (const lane of ['x', 'y']) for (const name of ['a', 'b']) void ask(of(lane)(name))
  await expect(ask(of('z')('c'))).rejects.toMatchObject({ code: 'datastore_unavailable' })
})

test('a batch ends before it is too heavy, and an item that is too heavy has one of its own', async () => {
  const { run, batches, names } = heldWork()
  const weightOf = ({ name }: Item) => name.length
  const ask = createBatching<Item, string>({ run, weightOf, batchMax: 4, waitingMax: 10 })
  const answers = ['a', 'bb', 'cc', 'd', 'eeeeee', 'f'].map((name) => ask(of('x')(name)))
  for (const at of [0, 1, 2, 3, 4]) {
    batches[at]?.end()
    await turn()
  }
  expect(names()).toEqual(['a', 'bbcc', 'd', 'eeeeee', 'f'])
  expect(await Promise.all(answers)).toEqual(['a', 'bb', 'cc', 'd', 'eeeeee', 'f'])
})
