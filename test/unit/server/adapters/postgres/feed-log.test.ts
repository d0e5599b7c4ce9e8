import { expect, test } from 'vitest'
import { createFeedLog } from '../../../../../src/server/adapters/postgres/feed-log.ts'
import type { FeedChange } from '../../../../../src/server/ports/change-feed.ts'

const change = (revision: bigint, id = `${revision}`): FeedChange => ({
  revision,
  kind: 'credential_changed',
  payload: { kind: 'nsk', id },
})

function logAt(revision: bigint) {
  const applied: bigint[] = []
  const log = createFeedLog([(each) => void applied.push(each.revision)])
  log.jumpTo(revision)
  return { log, applied }
}

test('revisions are applied in order, whatever order they come in', () => {
  const { log, applied } = logAt(0n)
  for (const revision of [3n, 1n, 2n]) {
    log.offer(revision, [change(revision)])
    log.advance()
  }
  expect(applied).toEqual([1n, 2n, 3n])
  expect(log.revision()).toBe(3n)
})

test('what lies behind a gap is held back until the gap is closed', () => {
  const { log, applied } = logAt(0n)
  log.offer(2n, [change(2n)])
  log.advance()
  expect([applied, log.heldBack()]).toEqual([[], 1])
  log.offer(1n, [change(1n)])
  log.advance()
  expect([applied, log.heldBack()]).toEqual([[1n, 2n], 0])
})

test('a revision is applied once, however often it comes', () => {
  const { log, applied } = logAt(4n)
  for (const revision of [4n, 5n, 5n]) log.offer(revision, [change(revision)])
  log.advance()
  log.offer(5n, [change(5n)])
  log.advance()
  expect(applied).toEqual([5n])
})

test('every follower sees a change before any sees the next', () => {
  const order: string[] = []
  const log = createFeedLog([
    ({ revision }) => void order.push(`a${revision}`),
    ({ revision }) => void order.push(`b${revision}`),
  ])
  log.jumpTo(0n)
  log.offer(1n, [change(1n)])
  log.offer(2n, [change(2n)])
  log.advance()
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('a jump forgets what it passes and keeps what is ahead of it', () => {
  const { log, applied } = logAt(0n)
  log.offer(2n, [change(2n)])
  log.offer(6n, [change(6n)])
  log.jumpTo(5n)
  log.advance()
  expect(applied).toEqual([6n])
})

test('who waits is woken by an advance and by a jump', async () => {
  const { log } = logAt(0n)
  const first = log.waitFor(1n, 1_000)
  const tenth = log.waitFor(10n, 1_000)
  log.offer(1n, [change(1n)])
  log.advance()
  await expect(first).resolves.toBeUndefined()
  log.jumpTo(10n)
  await expect(tenth).resolves.toBeUndefined()
  await expect(log.waitFor(3n, 0)).resolves.toBeUndefined()
})

test('who waits in vain is told authz_unavailable, with the revision reached as the cause', async () => {
  const { log } = logAt(2n)
  await expect(log.waitFor(3n, 1)).rejects.toMatchObject({
    code: 'authz_unavailable',
    cause: new Error('revision 3 was not applied within 1 ms; at 2'),
  })
})

test('a follower that throws keeps the log before that revision', () => {
  const log = createFeedLog([
    () => {
      throw new Error('cannot')
    },
  ])
  log.jumpTo(0n)
  log.offer(1n, [change(1n)])
  expect(() => log.advance()).toThrow('cannot')
  expect(log.revision()).toBe(0n)
})
