import { createEventOrder, type EventOrder, type Place } from './order.ts'
import { isResync } from './payloads.ts'
import type { ReceivedEnvelope } from './signed-envelope.ts'
import type { EnvelopeFault, EnvelopeVerifier } from './verifier.ts'

/** A frame of the event stream, or the stored parts of one. */
export interface StreamFrame {
  readonly id: string | undefined
  /** The type in the frame; undefined where it was not stored. */
  readonly event: string | undefined
  readonly data: string
}

/**
 * Why a frame is refused: a fault of its envelope; `bad_id`: its position is no number; `type_mismatch`: the frame
 * has another type than the signed envelope; `duplicate`: genuine, and seen before.
 */
export type FrameFault = EnvelopeFault | 'bad_id' | 'type_mismatch' | 'duplicate'

export type FrameVerification =
  | { readonly ok: true; readonly envelope: ReceivedEnvelope; readonly place: Place }
  /** The envelope is present if it could be read; the agent must not act on it. */
  | { readonly ok: false; readonly fault: FrameFault; readonly envelope: ReceivedEnvelope | undefined }

export interface FrameVerifier {
  /** A connection begins. */
  connected(): void
  verify(frame: StreamFrame): Promise<FrameVerification>
}

/** Checks the frames of one node's stream: each by itself, then its order among the others. */
export function createFrameVerifier(deps: {
  readonly verify: EnvelopeVerifier
  readonly nodeId?: string | undefined
  readonly order?: EventOrder
}): FrameVerifier {
  const { verify, nodeId, order = createEventOrder() } = deps
  return {
    connected: () => order.connected(),
    async verify({ id, event, data }) {
      const verification = await verify(data, { nodeId })
      if (!verification.ok) return verification
      const { envelope } = verification
      if (id !== undefined && !/^\d{1,20}$/.test(id)) return { ok: false, fault: 'bad_id', envelope }
      if (event !== undefined && event !== envelope.type) return { ok: false, fault: 'type_mismatch', envelope }
      const place = order.take(numbered(envelope))
      return place.kind === 'duplicate' ? { ok: false, fault: 'duplicate', envelope } : { ok: true, envelope, place }
    },
  }
}

function numbered(envelope: ReceivedEnvelope) {
  return {
    nodeSeq: envelope.node_seq,
    occurredAtMs: Date.parse(envelope.occurred_at),
    isResync: isResync(envelope),
  }
}
