import { isOutage } from '../../http/streams/outage.ts'
import type { BusEvent, EventBus } from '../../ports/event-bus.ts'
import { makeResync, type Position, type ResyncDeps } from './resync.ts'
import { findStartingPoint, type Progress, type StartingPoint, type StartingPointDeps } from './starting-point.ts'
import type { ReadLimiter } from './read-limiter.ts'

export interface CatchUpDeps extends StartingPointDeps, ReadLimiter {
  readonly bus: Pick<EventBus, 'bounds' | 'read'>
  readonly resync: ResyncDeps
}

/** A stream that is behind. It buffers what is published meanwhile. */
export interface Behind extends Progress {
  readonly isOver: boolean
  /** Sends an event and advances. */
  send(event: BusEvent): void
  /** Sets the number, among the node's events, of its current position. */
  located(nodeSeq: bigint | undefined): void
  /** Resolves once the reader has read most of what it was sent, or has disconnected. */
  room(): Promise<void>
  /** Sends the buffered events and becomes live. False where it had to drop some: then it is still behind. */
  goLive(): boolean
}

/** Events read at once; one has up to a megabyte. */
const PAGE = 16

/** The beginning of a stream, computed before its head is sent, so that a refusal is still possible. */
export interface Beginning {
  readonly point: StartingPoint
  readonly resync: BusEvent | undefined
}

/** Finds from where the stream resumes, and creates the frame that reports a loss. */
export function begin(deps: CatchUpDeps, stream: Progress): Promise<Beginning> {
  return deps.readStart(async () => {
    const point = await findStartingPoint(deps, stream)
    const { lostAt } = point
    return { point, resync: lostAt && (await makeResync(deps.resync, stream.node, lostAt)) }
  })
}

/**
 * Catches a stream up with the live events, without a gap or a duplicate (decisions: Hand-over): replays
 * up to the last event that is kept, then what was published meanwhile. Retries while the bus is unavailable.
 *
 * @throws every error that is no outage.
 */
export async function catchUp(deps: CatchUpDeps, stream: Behind, first?: Beginning): Promise<void> {
  let beginning = first
  while (!stream.isOver) {
    try {
      await replay(deps, stream, beginning ?? (await begin(deps, stream)))
      if (stream.goLive()) return
    } catch (error) {
      if (!isOutage(error)) throw error
      await deps.retryPause()
    }
    beginning = undefined
  }
}

async function replay(deps: CatchUpDeps, stream: Behind, { point, resync }: Beginning): Promise<void> {
  if (resync === undefined) stream.located(point.nodeSeq)
  else stream.send(resync)
  // The event at the position itself carries its number among the node's events.
  let after = stream.nodeSeq === undefined && stream.seq > 0n ? stream.seq - 1n : stream.seq
  while (after < point.upTo && !stream.isOver) {
    const range = { after, upTo: point.upTo, max: PAGE }
    const page = await deps.readPage(() => deps.bus.read(stream.node.nodeId, range))
    for (const event of page) await replayOne(deps, stream, event)
    const last = page.at(-1)
    if (last === undefined) return
    after = last.seq
  }
}

async function replayOne(deps: CatchUpDeps, stream: Behind, event: BusEvent): Promise<void> {
  if (event.seq === stream.seq) return stream.located(event.nodeSeq)
  const { nodeSeq } = stream
  const isSent = event.seq < stream.seq || (nodeSeq !== undefined && event.nodeSeq <= nodeSeq)
  if (isSent) return
  if (nodeSeq !== undefined && event.nodeSeq > nodeSeq + 1n) {
    // What is missing was dropped from the stream while it was being replayed.
    stream.send(await makeResync(deps.resync, stream.node, placeBefore(event)))
  }
  stream.send(event)
  await stream.room()
}

function placeBefore({ seq, nodeSeq }: BusEvent): Position {
  return { seq: seq - 1n, nodeSeq: nodeSeq - 1n }
}
