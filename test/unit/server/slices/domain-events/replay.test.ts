import { describe, expect, it } from 'vitest'
import { createSlots } from '../../../../../src/shared/semaphore.ts'
import { replay, type Behind, type ReplayDeps } from '../../../../../src/server/slices/domain-events/replay.ts'
import type { Signer } from '../../../../../src/server/ports/signer.ts'

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-000000000003'

// Only these are asked for.
const signer = {
  keys: () => [{ kid: 'k' }],
  signMany: async (batch: readonly unknown[]) => ({ kid: 'k', signatures: batch.map(() => Buffer.alloc(64)) }),
} as unknown as Signer

const deps: ReplayDeps = {
  signer,
  db: () => {
    throw new Error('nothing is to be read')
  },
  clock: { now: () => 0 },
  reads: createSlots(1),
  pause: async () => undefined,
}

interface Stream extends Behind {
  seq: bigint
  isLost: boolean
  readonly sent: bigint[]
}

function streamAt(seq: bigint, { isLost = false, isOver = false } = {}): Stream {
  const stream: Stream = {
    domainId: DOMAIN,
    seq,
    isLost,
    isOver,
    isLive: false,
    sent: [],
    send(frame) {
      stream.sent.push(frame.seq)
      stream.seq = frame.seq
      stream.isLost = false
    },
    passed: () => undefined,
    room: async () => undefined,
  }
  return stream
}

describe('A stream of a Domain that is brought up', () => {
  it('is live at once where it has missed nothing', () => {
    const stream = streamAt(5n)
    void replay(deps, stream, () => 5n)
    expect(stream.isLive).toBe(true)
  })

  it('is live before anything else can run after the look at the tail, so that it misses no event', async () => {
    const stream = streamAt(5n, { isLost: true })
    const seen: boolean[] = []
    await replay(deps, stream, () => {
      // The tail could hand over a batch in this place.
      queueMicrotask(() => seen.push(stream.isLive))
      return 7n
    })
    expect(stream.sent).toEqual([7n])
    expect(seen.at(-1)).toBe(true)
  })

  it('is not live where its reader is gone', async () => {
    const stream = streamAt(5n, { isOver: true })
    await replay(deps, stream, () => 7n)
    expect(stream.isLive).toBe(false)
  })
})
