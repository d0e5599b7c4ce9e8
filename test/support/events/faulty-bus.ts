import {
  EventBusUnavailable,
  type BusEvent,
  type BusFollower,
  type EventBus,
  type StreamBounds,
} from '../../../src/server/ports/event-bus.ts'

/** A stream of events in memory, with the faults of real ones at hand. */
export interface FaultyBus extends EventBus {
  /** Stores the node's next event, and hands it to the follower unless deliveries are held. */
  add(nodeId: string, wire?: string): BusEvent
  /** Stores an event again under a new position, as a former leader might while the first is still there. */
  repeat(event: BusEvent): void
  /** Keeps deliveries back, until they are released or lost. */
  hold(): void
  readonly isHeld: boolean
  release(): void
  /** Drops what is held and says so. */
  lose(): void
  /** Drops what is held and says nothing. */
  forget(): void
  /** Keeps the newest events of a node and drops the others. */
  prune(nodeId: string, kept: number): void
  /** Makes it unreachable, or reachable again. */
  setAway(isAway: boolean): void
  /** Everything that was ever stored, pruned or not. */
  readonly all: readonly BusEvent[]
  /** Runs before every question is answered, and before the answer gets back. */
  delay: () => Promise<void>
}

export function createFaultyBus(): FaultyBus {
  const all: BusEvent[] = []
  let kept: BusEvent[] = []
  let held: BusEvent[] | undefined
  let follower: BusFollower | undefined
  let awaySinceMs: number | undefined
  let head = 0n

  function store(nodeId: string, nodeSeq: bigint, wire: string): BusEvent {
    // Positions of other streams lie in between.
    head += BigInt(1 + (all.length % 3))
    const event = { seq: head, nodeId, nodeSeq, type: 'node_state_updated', wire }
    all.push(event)
    kept.push(event)
    if (held === undefined) follower?.onEvents([event])
    else held.push(event)
    return event
  }

  const of = (nodeId: string): BusEvent[] => kept.filter((event) => event.nodeId === nodeId)

  async function reach(): Promise<void> {
    await bus.delay()
    if (awaySinceMs !== undefined) throw new EventBusUnavailable()
  }

  const bus: FaultyBus = {
    kind: 'event-log',
    all,
    delay: async () => undefined,
    add(nodeId, wire) {
      const nodeSeq = all.reduce((last, one) => (one.nodeId === nodeId && one.nodeSeq > last ? one.nodeSeq : last), 0n)
      const next = nodeSeq + 1n
      return store(nodeId, next, wire ?? JSON.stringify({ node_id: nodeId, node_seq: Number(next) }))
    },
    repeat(event) {
      if (kept.includes(event)) store(event.nodeId, event.nodeSeq, event.wire)
    },
    get isHeld() {
      return held !== undefined
    },
    hold() {
      held ??= []
    },
    release() {
      const events = held
      held = undefined
      if (events !== undefined && events.length > 0) follower?.onEvents(events)
    },
    lose() {
      held = undefined
      follower?.onGap()
    },
    forget() {
      held = undefined
    },
    prune(nodeId, count) {
      const dropped = new Set(of(nodeId).slice(0, Math.max(0, of(nodeId).length - count)))
      kept = kept.filter((event) => !dropped.has(event))
    },
    setAway(isAway) {
      awaySinceMs = isAway ? Date.now() : undefined
    },
    async publish(events) {
      await reach()
      for (const { nodeId, nodeSeq, wire } of events) store(nodeId, nodeSeq, wire)
      return events.map(() => ({ kind: 'stored' }))
    },
    async bounds(nodeId): Promise<StreamBounds> {
      await reach()
      const bounds = { head, oldest: of(nodeId)[0], newest: of(nodeId).at(-1) }
      await bus.delay()
      return bounds
    },
    async read(nodeId, { after, upTo, max }) {
      await reach()
      const page = of(nodeId)
        .filter(({ seq }) => seq > after && seq <= upTo)
        .slice(0, max)
      await bus.delay()
      return page
    },
    async subscribe(following) {
      await reach()
      follower = following
      return {
        from: head,
        async stop() {
          follower = undefined
        },
      }
    },
    ping: reach,
    awaySinceMs: () => awaySinceMs,
    close: async () => undefined,
  }
  return bus
}
