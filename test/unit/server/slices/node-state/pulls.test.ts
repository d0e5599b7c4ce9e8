import { expect, test } from 'vitest'
import { createPulls, type Pull } from '../../../../../src/server/slices/node-state/pulls.ts'

/** A store whose writes end when the test says so. */
function heldStore() {
  const writes: { batch: readonly Pull[]; commit: () => void; fail: (error: unknown) => void }[] = []
  const write = (batch: readonly Pull[]) =>
    new Promise<void>((resolve, reject) => void writes.push({ batch, commit: resolve, fail: reject }))
  return { writes, write }
}

const unexpected = (error: unknown) => expect.unreachable(String(error))
const turn = () => new Promise((resolve) => setImmediate(resolve))
const pull = (nodeId: string, peers = 1, node = 1): Pull => ({ nodeId, peers, node })

test('pulls are stored behind the turn, by node id, each node once with the highest of both revisions', async () => {
  const { writes, write } = heldStore()
  const pulls = createPulls({ write, onFailure: unexpected })
  for (const each of [pull('b', 3, 1), pull('a'), pull('b', 2, 5)]) pulls.note(each)
  expect(writes).toEqual([])
  await turn()
  expect(writes.map(({ batch }) => batch)).toEqual([[pull('a'), pull('b', 3, 5)]])
})

test('one batch is on its way at a time, and the next one gathers meanwhile', async () => {
  const { writes, write } = heldStore()
  const pulls = createPulls({ write, onFailure: unexpected })
  pulls.note(pull('a'))
  await turn()
  for (const id of ['c', 'b']) pulls.note(pull(id))
  await turn()
  expect(writes).toHaveLength(1)
  writes[0]?.commit()
  await turn()
  expect(writes[1]?.batch.map(({ nodeId }) => nodeId)).toEqual(['b', 'c'])
  writes[1]?.commit()
  await pulls.settled()
})

test('a batch that fails is reported, and later ones are stored', async () => {
  const { writes, write } = heldStore()
  const failures: unknown[] = []
  const pulls = createPulls({ write, onFailure: (error) => void failures.push(error) })
  pulls.note(pull('a'))
  await turn()
  writes[0]?.fail('down')
  await pulls.settled()
  pulls.note(pull('a'))
  await turn()
  expect([failures, writes.length]).toEqual([['down'], 2])
  writes[1]?.commit()
  await pulls.settled()
})

test('a store that refuses at once is reported like one that fails later', async () => {
  const failures: unknown[] = []
  let isAway = true
  const write = (): Promise<void> => {
    if (isAway) throw new Error('away')
    return Promise.resolve()
  }
  const pulls = createPulls({ write, onFailure: (error) => void failures.push(error) })
  pulls.note(pull('a'))
  await pulls.settled()
  isAway = false
  pulls.note(pull('a'))
  await pulls.settled()
  expect(failures).toEqual([new Error('away')])
})

test('what waits and what is written at once are bounded', async () => {
  const { writes, write } = heldStore()
  const pulls = createPulls({ write, onFailure: unexpected })
  for (let n = 0; n < 25_000; n++) pulls.note(pull(String(n).padStart(6, '0')))
  await turn()
  let stored = 0
  for (let at = 0; at < writes.length; at++) {
    stored += writes[at]?.batch.length ?? 0
    expect(writes[at]?.batch.length).toBeLessThanOrEqual(512)
    writes[at]?.commit()
    await turn()
  }
  expect(stored).toBe(20_000)
})
