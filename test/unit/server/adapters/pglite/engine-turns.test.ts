import { expect, test } from 'vitest'
import { createEngineTurns, type Line } from '../../../../../src/server/adapters/pglite/engine-turns.ts'
import { DatastoreError, DatastoreOverloaded } from '../../../../../src/server/ports/datastore.ts'

const soon = () => new Promise((resolve) => setImmediate(resolve))

/** Waits in lines and notes whose turn it became. */
function queueUp(waitingMax?: number) {
  const turns = createEngineTurns(waitingMax)
  const begun: string[] = []
  const wait = (name: string, line: Line = 'common', deadlineMs = 5_000) =>
    turns.take(line, deadlineMs).then(() => void begun.push(name))
  return { turns, begun, wait }
}

/** An answer that is there when the test says so. */
function answer(): { readonly answered: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined
  const answered = new Promise<void>((resolve) => (give = resolve))
  return { answered, give: () => give() }
}

test('turns come in the order in which they were asked for', async () => {
  const { turns, begun, wait } = queueUp()
  for (const name of ['a', 'b', 'c']) void wait(name)
  await soon()
  expect(begun).toEqual(['a'])
  turns.end()
  await soon()
  turns.end()
  await soon()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('two lines are served by turns, and either alone without a pause', async () => {
  const { turns, begun, wait } = queueUp()
  for (const name of ['a', 'b', 'c', 'd']) void wait(name)
  for (const name of ['R', 'S', 'T']) void wait(name, 'reserved')
  for (let count = 0; count < 7; count++) {
    await soon()
    turns.end()
  }
  expect(begun).toEqual(['a', 'R', 'b', 'S', 'c', 'T', 'd'])
})

test('the next one begins while one answer is under way, and the one after it waits for an answer', async () => {
  const { turns, begun, wait } = queueUp()
  const [first, second] = [answer(), answer()]
  for (const name of ['a', 'b', 'c']) void wait(name)
  await soon()
  turns.end(first.answered)
  await soon()
  expect(begun).toEqual(['a', 'b'])
  turns.end(second.answered)
  await soon()
  expect(begun).toEqual(['a', 'b'])
  first.give()
  await soon()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('all is quiet once every answer is there', async () => {
  const { turns, wait } = queueUp()
  const { answered, give } = answer()
  await wait('a')
  turns.end(answered)
  let isQuiet = false
  void turns.quiet().then(() => (isQuiet = true))
  await soon()
  expect(isQuiet).toBe(false)
  give()
  await soon()
  expect(isQuiet).toBe(true)
})

test('who waits too long is told so, and passed by', async () => {
  const { turns, begun, wait } = queueUp()
  await wait('a')
  const late = wait('late', 'common', 5)
  const patient = wait('b')
  await expect(late).rejects.toThrow(DatastoreError)
  turns.end()
  await patient
  expect(begun).toEqual(['a', 'b'])
})

test('who finds the line full is refused at once; the other line still takes, and so does this one later', async () => {
  const { turns, begun, wait } = queueUp(2)
  await wait('running')
  void wait('a')
  void wait('b')
  await expect(wait('one too many')).rejects.toThrow(DatastoreOverloaded)
  void wait('R', 'reserved')
  turns.end()
  await soon()
  turns.end()
  await soon()
  void wait('c')
  for (let count = 0; count < 3; count++) {
    turns.end()
    await soon()
  }
  expect(begun).toEqual(['running', 'R', 'a', 'b', 'c'])
})
