import type { Slots } from '../../../shared/semaphore.ts'
import { isOutage } from '../../http/streams/outage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import { framesOf, resyncAt, type DomainEvent, type DomainFrame } from './frames.ts'
import { readBounds, readEvents, type Bounds } from './store.ts'

/** Outbox rows that one read looks at. */
export const WINDOW_ROWS = 2_000n
/** Outbox rows behind the head beyond which nothing is replayed. */
const REPLAY_ROWS_MAX = 100_000n
/** Events of one replay: a reader that has missed more reads its objects again anyway. */
const REPLAY_EVENTS_MAX = 1_000

export interface ReplayDeps {
  readonly db: () => Db
  readonly signer: Signer
  readonly clock: Clock
  /** Limits the replays that read at once. */
  readonly reads: Slots
  /** Resolves before the next try, after an outage. */
  readonly pause: () => Promise<void>
}

/** A stream that is behind. */
export interface Behind {
  readonly domainId: string
  /** Everything up to there was sent. */
  readonly seq: bigint
  readonly isOver: boolean
  /** Whether it begins with a position that cannot be resumed from. */
  readonly isLost: boolean
  /** Set once it is sent what comes next. */
  isLive: boolean
  send(frame: DomainFrame): void
  passed(seq: bigint): void
  room(): Promise<void>
}

/** Whether events after a position are gone, or too many to look for; or the position was never given. */
export function isGone(seq: bigint, { head, oldest }: Bounds): boolean {
  return seq > head || seq + 1n < oldest || head - seq > REPLAY_ROWS_MAX
}

/**
 * Brings a stream up to the tail: sends what it has missed, or one `stream.resync` where that is gone or too much. Waits for slow
 * readers, and retries while the datastore or the signer is away. It makes the stream live without a pause after the look at the
 * tail: in a pause, even one of a microtask, the tail could hand over events that the stream would miss.
 *
 * @param tail the position of the tail, which moves on meanwhile.
 * @throws every error that is no outage.
 */
export async function replay(deps: ReplayDeps, stream: Behind, tail: () => bigint): Promise<void> {
  let sent = 0
  while (!stream.isOver && (stream.isLost || stream.seq < tail())) {
    try {
      sent += await deps.reads.run(() => advance(deps, stream, { tail: tail(), sent }))
      await stream.room()
    } catch (error) {
      if (!isOutage(error)) throw error
      await deps.pause()
    }
  }
  stream.isLive = !stream.isOver
}

interface Step {
  readonly tail: bigint
  /** Events that this replay has sent. */
  readonly sent: number
}

/** Resolves with the number of events that it sent. */
async function advance(deps: ReplayDeps, stream: Behind, { tail, sent }: Step): Promise<number> {
  const { seq: after, domainId } = stream
  // A position that cannot be resumed from was replaced by that of the head, which the tail may not have reached.
  const at = after > tail ? after : tail
  const resync = async (): Promise<number> => send(deps, stream, [resyncAt(domainId, at, deps.clock.now())])
  if (stream.isLost || isGone(after, await readBounds(deps.db()))) return resync()
  const upTo = after + WINDOW_ROWS < tail ? after + WINDOW_ROWS : tail
  const max = REPLAY_EVENTS_MAX - sent + 1
  const events = await readEvents(deps.db(), { domainIds: [domainId], window: { after, upTo }, max })
  if (events.length === max) return resync()
  await send(deps, stream, events)
  stream.passed(upTo)
  return events.length
}

async function send({ signer }: ReplayDeps, stream: Behind, events: readonly DomainEvent[]): Promise<number> {
  for (const frame of await framesOf(signer, events)) stream.send(frame)
  return events.length
}
