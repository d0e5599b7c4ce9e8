import { expect, test, vi } from 'vitest'
import { createPeerMarks } from '../../../../../src/server/slices/nodes/peer-marks.ts'
import type { PeerMark } from '../../../../../src/server/slices/nodes/peer-marks-store.ts'

const mark = (domainId: string, atMs: number, revision: number): PeerMark => ({ domainId, atMs, revision })
/** Ids whose last two digits say when within the minute their nodes are due. */
const [FIRST, MIDDLE, LAST] = ['00', '08', 'ff'].map((end) => `01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e${end}`) as [
  string,
  string,
  string,
]
const DUE_MS = 300_000

async function marked(...marks: readonly PeerMark[]) {
  const peerMarks = createPeerMarks({
    read: async () => marks,
    onFailure: (error) => expect.unreachable(String(error)),
  })
  await peerMarks.start()
  peerMarks.stop()
  return (nodeId: string, nowMs: number, domainId = 'd') => peerMarks.dueOf({ domainId, nodeId }, nowMs)
}

test('a revision is due when it was marked 5 minutes ago, and for each node up to a minute later', async () => {
  const due = await marked(mark('d', 10_000, 7), mark('d', 0, 5))
  expect([due(FIRST, DUE_MS - 1), due(FIRST, DUE_MS), due(FIRST, DUE_MS + 9_999), due(FIRST, DUE_MS + 10_000)]).toEqual(
    [0, 5, 5, 7],
  )
  expect([due(MIDDLE, DUE_MS + 29_999), due(MIDDLE, DUE_MS + 30_000)]).toEqual([0, 5])
  expect([due(LAST, DUE_MS + 59_765), due(LAST, DUE_MS + 59_766), due(LAST, DUE_MS + 70_000)]).toEqual([0, 5, 7])
})

test('Domains are told apart, and of one without marks nothing is due', async () => {
  const due = await marked(mark('a', 0, 5), mark('b', 0, 9))
  expect(['a', 'b', 'c'].map((id) => due(FIRST, DUE_MS, id))).toEqual([5, 9, 0])
})

test('marks that cannot be read are reported once, and those that were read stand', async () => {
  const onFailure = vi.fn<(error: unknown) => void>()
  let marks: readonly PeerMark[] | undefined = [mark('d', 0, 5)]
  const read = async () => {
    if (marks === undefined) throw new Error('down')
    return marks
  }
  const peerMarks = createPeerMarks({ read, onFailure })
  await peerMarks.start()
  marks = undefined
  await peerMarks.start()
  await peerMarks.start()
  expect(onFailure).toHaveBeenCalledTimes(1)
  expect(peerMarks.dueOf({ domainId: 'd', nodeId: FIRST }, DUE_MS)).toBe(5)
  marks = [mark('d', 0, 6)]
  await peerMarks.start()
  expect(peerMarks.dueOf({ domainId: 'd', nodeId: FIRST }, DUE_MS)).toBe(6)
  peerMarks.stop()
})
