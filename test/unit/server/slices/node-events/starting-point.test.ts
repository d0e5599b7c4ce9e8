import { describe, expect, it } from 'vitest'
import { findStartingPoint, compareWithBounds } from '../../../../../src/server/slices/node-events/starting-point.ts'
import type { KeptEvent, StreamBounds } from '../../../../../src/server/ports/event-bus.ts'

const at = (seq: bigint, nodeSeq: bigint): KeptEvent => ({ seq, nodeSeq })
const NOTHING: StreamBounds = { head: 100n, oldest: undefined, newest: undefined }
/** Events 1 to 5 of the node at 10, 20, … 50; the head is another's. */
const ALL: StreamBounds = { head: 100n, oldest: at(10n, 1n), newest: at(50n, 5n) }
const PRUNED: StreamBounds = { head: 100n, oldest: at(30n, 3n), newest: at(50n, 5n) }

describe('what bounds say of a place', () => {
  it.each([
    ['above the head', { seq: 101n, nodeSeq: undefined }, ALL, { kind: 'lost', at: at(100n, 5n) }],
    ['at the head', { seq: 100n, nodeSeq: undefined }, ALL, { kind: 'whole', nodeSeq: 5n }],
    ['at the newest', { seq: 50n, nodeSeq: undefined }, ALL, { kind: 'whole', nodeSeq: 5n }],
    ['between two events', { seq: 25n, nodeSeq: undefined }, ALL, { kind: 'whole', nodeSeq: undefined }],
    [
      'before the first event there ever was',
      { seq: 3n, nodeSeq: undefined },
      ALL,
      { kind: 'whole', nodeSeq: undefined },
    ],
    ['at the start', { seq: 0n, nodeSeq: undefined }, ALL, { kind: 'whole', nodeSeq: undefined }],
    ['below the oldest that is kept', { seq: 20n, nodeSeq: undefined }, PRUNED, { kind: 'lost', at: at(29n, 2n) }],
    ['right before it', { seq: 29n, nodeSeq: undefined }, PRUNED, { kind: 'whole', nodeSeq: undefined }],
    ['below it, with the event before it seen', { seq: 20n, nodeSeq: 2n }, PRUNED, { kind: 'whole', nodeSeq: 2n }],
    ['below it, with an earlier one seen', { seq: 10n, nodeSeq: 1n }, PRUNED, { kind: 'lost', at: at(29n, 2n) }],
    ['anywhere, with nothing kept', { seq: 20n, nodeSeq: undefined }, NOTHING, { kind: 'undecided' }],
  ] as const)('%s', (_where, progress, bounds, verdict) => {
    expect(compareWithBounds(progress, bounds)).toEqual(verdict)
  })
})

describe('where nothing of a node is kept', () => {
  const node = { nodeId: 'n', domainId: 'd' }
  const find = (
    progress: { seq: bigint; nodeSeq?: bigint; isClaimed?: boolean },
    published: bigint,
    bounds = [NOTHING],
  ) => {
    const left = [...bounds]
    return findStartingPoint(
      { bus: { bounds: async () => left.shift() ?? bounds.at(-1) ?? NOTHING }, publishedUpTo: async () => published },
      { node, nodeSeq: undefined, isClaimed: true, ...progress },
    )
  }
  const lostAt = at(100n, 7n)

  it.each([
    ['a node that was never sent anything has lost nothing', { seq: 20n }, 0n, undefined],
    ['a reader with an id of before has lost what was dropped', { seq: 20n }, 7n, lostAt],
    ['a reader that has seen the last one has lost nothing', { seq: 20n, nodeSeq: 7n }, 7n, undefined],
    ['a reader that has not has', { seq: 20n, nodeSeq: 6n }, 7n, lostAt],
    ['a stream that only ever wanted what comes next has lost nothing', { seq: 20n, isClaimed: false }, 7n, undefined],
    ['an id above the head is told where the stream goes on', { seq: 101n }, 7n, lostAt],
    ['and so where nothing was ever sent', { seq: 101n }, 0n, at(100n, 0n)],
    ['an id at the head has lost nothing', { seq: 100n }, 7n, undefined],
  ] as const)('%s', async (_rule, progress, published, lost) => {
    expect((await find(progress, published)).lostAt).toEqual(lost)
  })

  it('a stream that has lost nothing is not taken to be further than it is', async () => {
    const found = await find({ seq: 20n, isClaimed: false }, 7n)
    expect(found).toEqual({ lostAt: undefined, nodeSeq: undefined, upTo: 100n })
  })

  it('what is published while it is asked is kept, and judged by', async () => {
    const later: StreamBounds = { head: 110n, oldest: at(110n, 8n), newest: at(110n, 8n) }
    expect(await find({ seq: 20n }, 7n, [NOTHING, later])).toEqual({ lostAt: at(109n, 7n), nodeSeq: 7n, upTo: 110n })
  })
})
