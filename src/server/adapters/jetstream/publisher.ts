import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream'
import type { OutgoingEvent, PublishOutcome } from '../../ports/event-bus.ts'
import { EVENT_BYTES_MAX } from '../../ports/event-bus.ts'
import { REQUEST_MS } from './connect.ts'
import type { StreamConnection } from './stream-connection.ts'
import { HEADER_BYTES_MAX, headersOf, messageIdOf } from './messages.ts'
import { subjectOf } from './names.ts'
import type { Reader } from './reader.ts'
import type { Incarnation } from './stream.ts'

/** Nodes whose events are published concurrently, one message each. */
const NODES_AT_ONCE = 256
/** Half of the server's deduplication window. */
const CERTAIN_MS = 60_000
const CERTAIN_NODES_MAX = 50_000
/** The server's code for a message that is too large for the stream. */
const TOO_LARGE = 10_054

interface Numbered {
  readonly index: number
  readonly event: OutgoingEvent
}

/** Publishes events; those of one node one after the other, each acknowledged before the next. */
export function createPublisher(nats: StreamConnection, reader: Reader, monotonicMs: () => number) {
  const client: JetStreamClient = nats.manager.jetstream()
  const encoder = new TextEncoder()
  /** When this process last saw an event of the node stored: within the window, the server recognizes every stored event of the node. */
  const storedAt = new Map<string, number>()

  function isCertain(nodeId: string): boolean {
    const at = storedAt.get(nodeId)
    return at !== undefined && monotonicMs() - at < CERTAIN_MS
  }

  function note(nodeId: string): void {
    if (storedAt.size >= CERTAIN_NODES_MAX) storedAt.clear()
    storedAt.set(nodeId, monotonicMs())
  }

  /** Whether an earlier attempt stored the event, perhaps before the deduplication window. */
  async function isStored(event: OutgoingEvent, stream: Incarnation): Promise<boolean> {
    const newest = await reader.newest(event.nodeId, stream)
    if (newest === undefined || newest.nodeSeq < event.nodeSeq) return false
    if (newest.nodeSeq === event.nodeSeq) return newest.wire === event.wire
    const range = { after: 0n, upTo: newest.seq, max: 10_000 }
    const all = await reader.readNode(event.nodeId, range, stream)
    return all.some(({ nodeSeq, wire }) => nodeSeq === event.nodeSeq && wire === event.wire)
  }

  async function store(event: OutgoingEvent, stream: Incarnation): Promise<PublishOutcome> {
    const { nodeId, wire } = event
    const reason = refusalOf(wire, nats.connection.info?.max_payload)
    if (reason !== undefined) return { kind: 'refused', reason }
    if (!isCertain(nodeId) && (await isStored(event, stream))) return { kind: 'stored' }
    storedAt.delete(nodeId)
    try {
      const options = { msgID: messageIdOf(event), headers: headersOf(event), timeout: REQUEST_MS }
      await client.publish(subjectOf(nats.env, nodeId), encoder.encode(wire), options)
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === TOO_LARGE)
        return { kind: 'refused', reason: `NATS refuses it: ${error.message}` }
      throw error
    }
    note(nodeId)
    return { kind: 'stored' }
  }

  return async function publish(events: readonly OutgoingEvent[]): Promise<PublishOutcome[]> {
    const outcomes: PublishOutcome[] = events.map(() => ({ kind: 'held' }))
    const lanes = lanesOf(events).values()
    let isFailed = false

    async function runLane(lane: readonly Numbered[]): Promise<void> {
      for (const { index, event } of lane) {
        if (isFailed) return
        const outcome = await nats.ask((stream) => store(event, stream))
        outcomes[index] = outcome
        if (outcome.kind !== 'stored') return
      }
    }

    /** Publishes one lane after the other until none is left. */
    async function work(): Promise<void> {
      try {
        for (const lane of lanes) await runLane(lane)
      } catch (error) {
        isFailed = true
        throw error
      }
    }

    const workers = Array.from({ length: Math.min(NODES_AT_ONCE, events.length) }, work)
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    return outcomes
  }
}

function lanesOf(events: readonly OutgoingEvent[]): ReadonlyMap<string, readonly Numbered[]> {
  const lanes = new Map<string, Numbered[]>()
  for (const [index, event] of events.entries()) {
    const lane = lanes.get(event.nodeId)
    if (lane === undefined) lanes.set(event.nodeId, [{ index, event }])
    else lane.push({ index, event })
  }
  return lanes
}

function refusalOf(wire: string, payloadBytesMax = EVENT_BYTES_MAX): string | undefined {
  const bytesMax = Math.min(EVENT_BYTES_MAX, payloadBytesMax - HEADER_BYTES_MAX)
  const bytes = Buffer.byteLength(wire)
  return bytes > bytesMax ? `it has ${bytes} bytes, more than the ${bytesMax} of an event` : undefined
}
