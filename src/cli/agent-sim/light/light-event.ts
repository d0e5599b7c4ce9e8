import type { Numbered } from '../../../shared/events/order.ts'
import { isResync } from '../../../shared/events/payloads.ts'
import type { ReceivedEnvelope } from '../../../shared/events/signed-envelope.ts'

/** An event of a node, read without its signature. */
export interface LightEvent extends Numbered {
  readonly envelope: ReceivedEnvelope
}

/** Reads the data of a frame; undefined for what is no event of that node. */
export function readLightEvent(data: string, nodeId: string): LightEvent | undefined {
  const envelope = parsed(data)
  if (envelope === undefined || envelope.node_id !== nodeId) return undefined
  return {
    envelope,
    nodeSeq: envelope.node_seq,
    occurredAtMs: Date.parse(envelope.occurred_at),
    isResync: isResync(envelope),
  }
}

/** Only the members that an agent without signatures uses are checked. */
function parsed(data: string): ReceivedEnvelope | undefined {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const envelope = value as Partial<ReceivedEnvelope>
  const isNumbered = Number.isSafeInteger(envelope.node_seq) && typeof envelope.occurred_at === 'string'
  return isNumbered && typeof envelope.payload === 'object' ? (envelope as ReceivedEnvelope) : undefined
}
