import type { BusEvent, BusFollower } from '../../../src/server/ports/event-bus.ts'

/** A follower that keeps what it was given. */
export interface BusRecorder extends BusFollower {
  readonly events: BusEvent[]
  gaps: number
  /** `node_seq`s of one node, in the order in which they came. */
  nodeSeqs(nodeId: string): number[]
}

export function recordBus(): BusRecorder {
  const events: BusEvent[] = []
  const recorder: BusRecorder = {
    events,
    gaps: 0,
    onEvents: (more) => void events.push(...more),
    onGap: () => void (recorder.gaps += 1),
    nodeSeqs: (nodeId) => events.filter((event) => event.nodeId === nodeId).map(({ nodeSeq }) => Number(nodeSeq)),
  }
  return recorder
}
