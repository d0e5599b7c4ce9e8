import type { HeartbeatHints } from './heartbeat-hints.ts'

/** One accepted heartbeat, as it is stored. */
export interface Heartbeat {
  readonly nodeId: string
  /** The server's admission instant, ms. */
  readonly acceptedAtMs: number
  readonly binaryVersion: string
  /** 64 lower-case hex digits. */
  readonly checksumHex: string
  /** The revision of its Domain's peers that the node should have pulled by now; not stored. */
  readonly duePeerRevision: number
}

/** A caller that waits until a heartbeat is durable. */
export interface Caller {
  readonly resolve: (hints: HeartbeatHints | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The newest heartbeat of one node, and all callers that wait for it. */
export interface Gathered {
  heartbeat: Heartbeat
  readonly callers: Caller[]
  /** Tick of the deadline's clock at which it began to wait. */
  readonly since: number
}

/** The nodes whose heartbeats wait for the next batch, in the order of their arrival. */
export interface HeartbeatQueue {
  size(): number
  add(heartbeat: Heartbeat, caller: Caller, tick: number): void
  /** Takes up to `max` nodes out, in ascending id order: concurrent batches must lock their rows in one order to avoid deadlocks. */
  take(max: number): readonly Gathered[]
  /** Takes out those that have waited since before that tick. */
  takeOverdue(beforeTick: number): readonly Gathered[]
}

export function createHeartbeatQueue(): HeartbeatQueue {
  let waiting = new Map<string, Gathered>()

  return {
    size: () => waiting.size,

    add(heartbeat, caller, tick) {
      const gathered = waiting.get(heartbeat.nodeId)
      if (gathered === undefined) {
        waiting.set(heartbeat.nodeId, { heartbeat, callers: [caller], since: tick })
        return
      }
      gathered.callers.push(caller)
      if (heartbeat.acceptedAtMs >= gathered.heartbeat.acceptedAtMs) gathered.heartbeat = heartbeat
    },

    take(max) {
      const taken = [...waiting.values()].slice(0, max)
      if (taken.length === waiting.size) waiting = new Map()
      else for (const { heartbeat } of taken) waiting.delete(heartbeat.nodeId)
      return taken.toSorted((a, b) => (a.heartbeat.nodeId < b.heartbeat.nodeId ? -1 : 1))
    },

    takeOverdue(beforeTick) {
      const overdue = [...waiting.values()].filter(({ since }) => since < beforeTick)
      for (const { heartbeat } of overdue) waiting.delete(heartbeat.nodeId)
      return overdue
    },
  }
}
