import { expect, test } from 'vitest'
import { createEngineScheduler, type QueueName } from '../../../../../src/server/adapters/pglite/engine-scheduler.ts'
import { DatastoreError, DatastoreOverloaded } from '../../../../../src/server/ports/datastore.ts'

const soon = () => new Promise((resolve) => setImmediate(resolve))

/** Acquires the session by name, and records the order. */
function queueUp(waitingMax?: number) {
  const scheduler = createEngineScheduler(waitingMax)
  const begun: string[] = []
  const wait = (name: string, queue: QueueName = 'common', deadlineMs = 5_000) =>
    scheduler.acquire(queue, deadlineMs).then(() => void begun.push(name))
  return { scheduler, begun, wait }
}

/** An answer that the test gives. */
function answer(): { readonly answered: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined
  const answered = new Promise<void>((resolve) => (give = resolve))
  return { answered, give: () => give() }
}

test('callers acquire the session in the order of their requests', async () => {
  const { scheduler, begun, wait } = queueUp()
  for (const name of ['a', 'b', 'c']) void wait(name)
  await soon()
  expect(begun).toEqual(['a'])
  scheduler.release()
  await soon()
  scheduler.release()
  await soon()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('the two queues are served alternately, and one alone without a pause', async () => {
  const { scheduler, begun, wait } = queueUp()
  for (const name of ['a', 'b', 'c', 'd']) void wait(name)
  for (const name of ['R', 'S', 'T']) void wait(name, 'reserved')
  for (let count = 0; count < 7; count++) {
    await soon()
    scheduler.release()
  }
  expect(begun).toEqual(['a', 'R', 'b', 'S', 'c', 'T', 'd'])
})

test('the next caller begins while one answer is outstanding, and the one after it waits for an answer', async () => {
  const { scheduler, begun, wait } = queueUp()
  const [first, second] = [answer(), answer()]
  for (const name of ['a', 'b', 'c']) void wait(name)
  await soon()
  scheduler.release(first.answered)
  await soon()
  expect(begun).toEqual(['a', 'b'])
  scheduler.release(second.answered)
  await soon()
  expect(begun).toEqual(['a', 'b'])
  first.give()
  await soon()
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('the scheduler is idle once every statement is answered', async () => {
  const { scheduler, wait } = queueUp()
  const { answered, give } = answer()
  await wait('a')
  scheduler.release(answered)
  let isIdle = false
  void scheduler.idle().then(() => (isIdle = true))
  await soon()
  expect(isIdle).toBe(false)
  give()
  await soon()
  expect(isIdle).toBe(true)
})

test('a caller whose wait exceeds its deadline is refused and skipped', async () => {
  const { scheduler, begun, wait } = queueUp()
  await wait('a')
  const late = wait('late', 'common', 5)
  const patient = wait('b')
  await expect(late).rejects.toThrow(DatastoreError)
  scheduler.release()
  await patient
  expect(begun).toEqual(['a', 'b'])
})

test('a full queue refuses at once; the other queue still accepts, and so does this one later', async () => {
  const { scheduler, begun, wait } = queueUp(2)
  await wait('running')
  void wait('a')
  void wait('b')
  await expect(wait('one too many')).rejects.toThrow(DatastoreOverloaded)
  void wait('R', 'reserved')
  scheduler.release()
  await soon()
  scheduler.release()
  await soon()
  void wait('c')
  for (let count = 0; count < 3; count++) {
    scheduler.release()
    await soon()
  }
  expect(begun).toEqual(['running', 'R', 'a', 'b', 'c'])
})
