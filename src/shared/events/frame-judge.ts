import { createEventOrder, type EventOrder, type Place } from './order.ts'
import { isResync } from './payloads.ts'
import type { ReceivedEnvelope } from './signed-envelope.ts'
import type { EnvelopeFault, EnvelopeVerifier } from './verifier.ts'

/** A frame of the event stream, or what was kept of one. */
export interface JudgedFrame {
  readonly id: string | undefined
  /** The type that the frame says; undefined where it was not kept. */
  readonly event: string | undefined
  readonly data: string
}

/**
 * Why a frame is refused: what is wrong with its envelope; `bad_id`: its position is no number; `type_mismatch`: the frame
 * says another type than the signed envelope; `duplicate`: genuine, and seen before.
 */
export type FrameFault = EnvelopeFault | 'bad_id' | 'type_mismatch' | 'duplicate'

export type Judgement =
  | { readonly ok: true; readonly envelope: ReceivedEnvelope; readonly place: Place }
  /** The envelope is there where it could be read; it is not to be acted upon. */
  | { readonly ok: false; readonly fault: FrameFault; readonly envelope: ReceivedEnvelope | undefined }

export interface FrameJudge {
  /** A connection begins. */
  connected(): void
  judge(frame: JudgedFrame): Promise<Judgement>
}

/** Judges the frames of one node's stream: each for itself, then by its place among the others. */
export function createFrameJudge(deps: {
  readonly verify: EnvelopeVerifier
  readonly nodeId?: string | undefined
  readonly order?: EventOrder
}): FrameJudge {
  const { verify, nodeId, order = createEventOrder() } = deps
  return {
    connected: () => order.connected(),
    async judge({ id, event, data }) {
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
