import {
  EventBusUnavailable,
  type BusEvent,
  type EventBus,
  type OutgoingEvent,
} from '../../../src/server/ports/event-bus.ts'

/** A stream in memory, for what stands before it: it can be away, or refuse. */
export interface MemoryBus extends EventBus {
  readonly stored: (BusEvent & OutgoingEvent)[]
  /** Every event that it was given, again and again. */
  readonly given: OutgoingEvent[]
  isAway: boolean
  /** Why it cannot have the event; undefined where it can. */
  refuse: (event: OutgoingEvent) => string | undefined
}

export function memoryBus(): MemoryBus {
  const known = new Set<string>()
  const bus: MemoryBus = {
    kind: 'event-log',
    stored: [],
    given: [],
    isAway: false,
    refuse: () => undefined,
    async publish(events) {
      if (bus.isAway) throw new EventBusUnavailable()
      bus.given.push(...events)
      const held = new Set<string>()
      return events.map((event) => {
        if (held.has(event.nodeId)) return { kind: 'held' }
        const reason = bus.refuse(event)
        if (reason !== undefined) {
          held.add(event.nodeId)
          return { kind: 'refused', reason }
        }
        if (!known.has(event.eventId)) bus.stored.push({ ...event, seq: BigInt(bus.stored.length + 1) })
        known.add(event.eventId)
        return { kind: 'stored' }
      })
    },
    bounds: async () => ({ head: BigInt(bus.stored.length), oldest: undefined, newest: undefined }),
    read: async () => [],
    subscribe: async () => ({ from: 0n, stop: async () => undefined }),
    ping: async () => undefined,
    awaySinceMs: () => undefined,
    close: async () => undefined,
  }
  return bus
}
