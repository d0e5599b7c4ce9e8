import { canonicalEnvelope, canonicalPayload } from '../../../shared/events/envelope.ts'
import { signEnvelopes } from '../../http/streams/sign-envelopes.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { BusEvent } from '../../ports/event-bus.ts'
import type { Signer } from '../../ports/signer.ts'

/** The position at which a stream resumes. */
export interface Position {
  /** Of the bus. */
  readonly seq: bigint
  /** Of the node's last event up to there; 0 before its first. */
  readonly nodeSeq: bigint
}

export interface ResyncDeps {
  readonly signer: Signer
  readonly clock: Clock
  readonly ids: IdSource
}

/** The node that a stream is about. */
export interface StreamedNode {
  readonly nodeId: string
  readonly domainId: string
}

const TYPE = 'node_state_updated'
const PAYLOAD = canonicalPayload({ reason: 'resync', blocks: [], peers: [] })

/**
 * Creates the hint that events were missed which the stream no longer has, signed as events are (decisions: Stream). Its id is
 * the position from which the stream resumes. @throws the errors of the signer.
 */
export async function makeResync(
  { signer, clock, ids }: ResyncDeps,
  node: StreamedNode,
  { seq, nodeSeq }: Position,
): Promise<BusEvent> {
  const parts = {
    domain_id: node.domainId,
    event_id: ids.next(),
    node_id: node.nodeId,
    node_seq: nodeSeq,
    occurred_at: new Date(clock.now()).toISOString(),
    payload: PAYLOAD,
    type: TYPE,
  } as const
  const [wire = ''] = await signEnvelopes(signer, (kid) => [canonicalEnvelope({ ...parts, kid })])
  return { seq, nodeId: node.nodeId, nodeSeq, type: TYPE, wire }
}
