import type { BusEvent, BusFollower } from '../../ports/event-bus.ts'
import { openDelivery, type Delivery } from './delivery.ts'
import type { StreamConnection } from './stream-connection.ts'
import { eventOf, type StoredMessage } from './messages.ts'
import type { Incarnation } from './stream.ts'

export interface StreamFollowing {
  readonly from: bigint
  stop(): void
}

type Warn = (message: string, cause?: unknown) => void

const RETRY_MS = 250

/** Follows the stream from its end on, over outages. @throws EventBusUnavailable where it cannot begin. */
export async function followStream(
  nats: StreamConnection,
  follower: BusFollower,
  warn: Warn,
): Promise<StreamFollowing> {
  const first = await nats.look()
  const from = positionOf(first, first.lastSeq)
  const following = createFollowing(nats, createGapTracker(from, follower), warn)
  await nats.ask(() => following.begin(first))
  nats.onReady(() => following.resume())
  return { from, stop: () => following.stop() }
}

interface GapTracker {
  /** The number in the stream after which a delivery is to begin. Reports a gap where the next messages are no longer stored. */
  startIn(stream: Incarnation): number
  take(messages: readonly StoredMessage[], stream: Incarnation): void
}

/** Tracks the last delivered position, and gaps after it. */
function createGapTracker(from: bigint, follower: BusFollower): GapTracker {
  let last = from

  function give(events: readonly BusEvent[]): void {
    if (events.length > 0) follower.onEvents(events)
  }

  return {
    startIn(stream) {
      const end = positionOf(stream, stream.lastSeq)
      const isWhole = last <= end && last >= positionOf(stream, stream.firstSeq - 1)
      if (!isWhole) {
        last = end
        follower.onGap()
      }
      return Number(last - stream.base)
    },
    take(messages, { base }) {
      const events: BusEvent[] = []
      for (const message of messages) {
        const position = base + BigInt(message.streamSeq)
        // Every number of the stream is a message: a skipped one was deleted before it was delivered.
        if (position !== last + 1n) {
          give(events.splice(0))
          follower.onGap()
        }
        last = position
        const event = eventOf(message, base)
        if (event !== undefined) events.push(event)
      }
      give(events)
    },
  }
}

interface Following {
  /** Follows with a delivery of its own. Resolves with whether it is the current one. */
  begin(stream: Incarnation): Promise<boolean>
  /** Restarts as soon as that works. */
  resume(): void
  stop(): void
}

function createFollowing(nats: StreamConnection, gaps: GapTracker, warn: Warn): Following {
  const stopping = new AbortController()
  const { signal } = stopping
  let delivery: Delivery | undefined
  /** Counts deliveries: an abandoned one must not deliver anything any more. */
  let turn = 0
  let isResuming = false

  async function begin(stream: Incarnation): Promise<boolean> {
    turn += 1
    const own = turn
    const counts = (): boolean => own === turn && !signal.aborted
    delivery?.stop()
    delivery = undefined
    const opened = await openDelivery({
      ...nats,
      after: gaps.startIn(stream),
      onMessages: (messages) => counts() && gaps.take(messages, stream),
      onLost(reason) {
        if (!counts()) return
        warn(`the event stream is followed from its start again: ${reason}`)
        resume()
      },
    })
    if (counts()) delivery = opened
    else opened.stop()
    return counts()
  }

  function resume(): void {
    turn += 1
    if (!isResuming) void tryResuming()
  }

  async function tryResuming(): Promise<void> {
    isResuming = true
    let begun = 0
    while (begun !== turn && !signal.aborted && !nats.connection.isClosed()) {
      try {
        const stream = await nats.look()
        begun = (await nats.ask(() => begin(stream))) ? turn : 0
      } catch (error) {
        warn('the event stream could not be followed; it is tried again', error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
      }
    }
    isResuming = false
  }

  return {
    begin,
    resume() {
      if (!signal.aborted) resume()
    },
    stop() {
      stopping.abort()
      delivery?.stop()
    },
  }
}

function positionOf({ base }: Incarnation, seq: number): bigint {
  return base + BigInt(seq)
}
