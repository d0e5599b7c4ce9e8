import type { Clock } from '../../ports/clock.ts'
import { isUnavailable, type Datastore } from '../../ports/datastore.ts'
import { EVENT_BYTES_MAX, type EventBus, type OutgoingEvent, type PublishOutcome } from '../../ports/event-bus.ts'
import { createGatheredReads } from '../../../shared/batch-loader.ts'
import { createSlots } from '../../../shared/semaphore.ts'
import { followLog, type LogFollowing } from './log-follower.ts'
import { createAvailability } from './availability.ts'
import { append, readBounds, readHead, readNode, readTail, type Stretch } from './store.ts'

export interface EventLogOptions {
  readonly datastore: Datastore
  readonly clock: Clock
  /** Called with failed reads of the follower; they are retried. */
  readonly onFailure: (error: unknown) => void
  /** At most 250 (decisions: Events). */
  readonly pollMs?: number
  readonly deadlineMs?: number
}

const POLL_MS = 200
const FOLLOWED_ROWS = 500
/** Maximum of waiting reads: all streams of a replica may begin at once. */
const GATHERED = { flightsMax: 2, batchMax: 64, isOutage: isUnavailable } as const
/** Concurrent reads of events: they share the interactive connections with all requests (S1 Limits). */
const READS_MAX = 3
/** One statement's worth. */
const APPENDED_ROWS = 500
const APPENDED_BYTES = 4 * 1024 * 1024

/** The stream as a table of the datastore. Replicas on one PostgreSQL share it; each polls it. */
export function createEventLog(options: EventLogOptions): EventBus {
  const { datastore, clock, onFailure, pollMs = POLL_MS } = options
  const availability = createAvailability(clock, options.deadlineMs)
  const readMany = (nodeIds: readonly string[]) => readBounds(datastore.pool('interactive'), nodeIds)
  const boundsOf = createGatheredReads({ ...GATHERED, readMany })
  const reading = createSlots(READS_MAX)
  let following: LogFollowing | undefined

  /** Events whose write exceeded its deadline are delivered as well once they are stored. */
  async function appendAndOffer(events: readonly OutgoingEvent[]): Promise<void> {
    try {
      const stretch = await append(datastore.pool('worker'), events, new Date(clock.now()))
      following?.offer(stretch)
    } catch (error) {
      following?.wake()
      throw error
    }
  }

  return {
    kind: 'event-log',
    async publish(events) {
      const outcomes = outcomesOf(events)
      for (const chunk of chunksOf(storable(events, outcomes))) await availability.attempt(() => appendAndOffer(chunk))
      return outcomes
    },
    enlisted: {
      async append(tx, events) {
        const outcomes = outcomesOf(events)
        const stretches: Stretch[] = []
        for (const chunk of chunksOf(storable(events, outcomes)))
          stretches.push(await append(tx, chunk, new Date(clock.now())))
        return {
          outcomes,
          onEnd(isCommitted) {
            if (isCommitted) for (const stretch of stretches) following?.offer(stretch)
            // A caller whose wait for a commit timed out does not know whether it committed.
            else following?.wake()
          },
        }
      },
    },
    bounds: (nodeId) =>
      availability.attempt(async () => {
        const bounds = await boundsOf(nodeId)
        if (bounds === undefined) throw new Error('event_log_head has no row')
        return bounds
      }),
    // The deadline does not include the wait for a slot: a busy log is not an unavailable one.
    read: (nodeId, range) =>
      reading.run(() => availability.attempt(() => readNode(datastore.pool('interactive'), nodeId, range))),
    async subscribe(follower) {
      if (following !== undefined) throw new Error('the event log is followed already')
      const from = await availability.attempt(() => readHead(datastore.pool('worker')))
      following = followLog({
        from,
        follower,
        readTail: (after) => availability.attempt(() => readTail(datastore.pool('worker'), after, FOLLOWED_ROWS)),
        pollMs: datastore.kind === 'embedded' ? undefined : pollMs,
        onFailure,
      })
      return {
        from,
        async stop() {
          following?.stop()
          following = undefined
        },
      }
    },
    ping: (deadlineMs) => availability.attempt(() => datastore.ping(deadlineMs)),
    awaySinceMs: () => availability.awaySinceMs(),
    async close() {
      following?.stop()
      following = undefined
    },
  }
}

/** The outcome of each event once the storable ones are stored. */
function outcomesOf(events: readonly OutgoingEvent[]): PublishOutcome[] {
  const heldNodes = new Set<string>()
  return events.map(({ nodeId, wire }) => {
    if (heldNodes.has(nodeId)) return { kind: 'held' }
    const reason = refusalOf(wire)
    if (reason === undefined) return { kind: 'stored' }
    heldNodes.add(nodeId)
    return { kind: 'refused', reason }
  })
}

const storable = (events: readonly OutgoingEvent[], outcomes: readonly PublishOutcome[]): readonly OutgoingEvent[] =>
  events.filter((_event, index) => outcomes[index]?.kind === 'stored')

function refusalOf(wire: string): string | undefined {
  const bytes = Buffer.byteLength(wire)
  if (bytes > EVENT_BYTES_MAX) return `it has ${bytes} bytes, more than the ${EVENT_BYTES_MAX} of an event`
  // PostgreSQL stores no NUL, and events are sent to it as lines; a canonical envelope contains neither NUL nor line breaks.
  if (wire.includes('\u0000')) return 'it holds a NUL character'
  return wire.includes('\n') ? 'it holds a line break' : undefined
}

function* chunksOf(events: readonly OutgoingEvent[]): Generator<readonly OutgoingEvent[]> {
  let chunk: OutgoingEvent[] = []
  let bytes = 0
  for (const event of events) {
    chunk.push(event)
    bytes += event.wire.length
    if (chunk.length < APPENDED_ROWS && bytes < APPENDED_BYTES) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  if (chunk.length > 0) yield chunk
}
