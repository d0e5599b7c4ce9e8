import { Problem } from '../../../shared/problems.ts'
import { isUnavailable } from '../../ports/datastore.ts'
import { EventBusUnavailable, type BusEvent, type EventBus } from '../../ports/event-bus.ts'
import { makeResync, type Position, type ResyncDeps } from './resync.ts'
import { findStartingPoint, type Progress, type StartingPoint, type StartingPointDeps } from './starting-point.ts'
import type { Turns } from './turns.ts'

export interface HandOverDeps extends StartingPointDeps, Turns {
  readonly bus: Pick<EventBus, 'bounds' | 'read'>
  readonly resync: ResyncDeps
}

/** A stream that has fallen behind, or begins behind. What is published meanwhile it keeps by itself. */
export interface Behind extends Progress {
  readonly isOver: boolean
  /** Sends an event and moves on. */
  send(event: BusEvent): void
  /** Learns which of the node's events the place is that it has come to. */
  located(nodeSeq: bigint | undefined): void
  /** Resolves once the reader has taken most of what it was sent, or has left. */
  room(): Promise<void>
  /** Sends what it has kept, and is live. False where it had to drop some of it: then it is behind still. */
  catchUp(): boolean
}

/** Events read at once; one has up to a megabyte. */
const PAGE = 16

/** What a stream begins with: found out before its head is sent, so that a refusal can still be an answer. */
export interface Beginning {
  readonly point: StartingPoint
  readonly resync: BusEvent | undefined
}

/** Finds out from where the stream goes on, and makes the frame that says what is lost. */
export function begin(deps: HandOverDeps, stream: Progress): Promise<Beginning> {
  return deps.inTurn(async () => {
    const point = await findStartingPoint(deps, stream)
    const { lostAt } = point
    return { point, resync: lostAt && (await makeResync(deps.resync, stream.node, lostAt)) }
  })
}

/**
 * Brings a stream from where it has come to what comes next, without a gap or a duplicate (decisions: Hand-over): replays
 * up to the last event that is kept, then what was published meanwhile. Tries again while the bus is away.
 *
 * @throws what is no outage.
 */
export async function handOver(deps: HandOverDeps, stream: Behind, first?: Beginning): Promise<void> {
  let beginning = first
  while (!stream.isOver) {
    try {
      await replay(deps, stream, beginning ?? (await begin(deps, stream)))
      if (stream.catchUp()) return
    } catch (error) {
      if (!isOutage(error)) throw error
      await deps.nextTry()
    }
    beginning = undefined
  }
}

/** Whether a failure says nothing but that a dependency is away for now. */
export function isOutage(error: unknown): boolean {
  if (error instanceof EventBusUnavailable || isUnavailable(error)) return true
  return error instanceof Problem && error.status === 503
}

async function replay(deps: HandOverDeps, stream: Behind, { point, resync }: Beginning): Promise<void> {
  if (resync === undefined) stream.located(point.nodeSeq)
  else stream.send(resync)
  // The event at the position itself carries its number among the node's events.
  let after = stream.nodeSeq === undefined && stream.seq > 0n ? stream.seq - 1n : stream.seq
  while (after < point.upTo && !stream.isOver) {
    const range = { after, upTo: point.upTo, max: PAGE }
    const page = await deps.readInTurn(() => deps.bus.read(stream.node.nodeId, range))
    for (const event of page) await replayOne(deps, stream, event)
    const last = page.at(-1)
    if (last === undefined) return
    after = last.seq
  }
}

async function replayOne(deps: HandOverDeps, stream: Behind, event: BusEvent): Promise<void> {
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
