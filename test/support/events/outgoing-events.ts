import type { OutgoingEvent } from '../../../src/server/ports/event-bus.ts'

export const DOMAIN = '0190a000-0000-7000-8000-0000000000d0'

/** The id of the node of that number. */
export function nodeOf(number: number): string {
  return `0190a000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
}

/** The event of that place in its node's order, as it would be after any crash: the same once more. */
export function outgoing(node: number, nodeSeq: number, filler = ''): OutgoingEvent {
  const eventId = `0190b000-${node.toString(16).padStart(4, '0')}-7000-8000-${nodeSeq.toString(16).padStart(12, '0')}`
  const payload = JSON.stringify({ filler, n: nodeSeq })
  return {
    domainId: DOMAIN,
    nodeId: nodeOf(node),
    nodeSeq: BigInt(nodeSeq),
    type: 'node_state_updated',
    eventId,
    wire: `{"event_id":"${eventId}","payload":${payload},"type":"node_state_updated","signature":"c2ln"}`,
  }
}

/** Events `first` to `last` of a node. */
export function outgoingRange(node: number, first: number, last: number): OutgoingEvent[] {
  return Array.from({ length: last - first + 1 }, (_, index) => outgoing(node, first + index))
}
