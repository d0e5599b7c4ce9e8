import { canonicalDomainEnvelope } from '../../../shared/events/domain-envelope.ts'
import type { DomainEventPayload, DomainEventType } from '../../../shared/events/domain-types.ts'
import { frameOf } from '../../http/streams/frames.ts'
import { signEnvelopes } from '../../http/streams/sign-envelopes.ts'
import type { Signer } from '../../ports/signer.ts'

/** An event of a Domain with its place. */
export interface DomainEvent {
  /** Position in the streams of all Domains; rises, with gaps. */
  readonly seq: bigint
  readonly domainId: string
  readonly type: DomainEventType
  readonly occurredAt: Date
  readonly payload: DomainEventPayload
}

/** An event as its readers receive it. */
export interface DomainFrame {
  readonly seq: bigint
  readonly domainId: string
  readonly bytes: Buffer
}

/** Signs events, in one call, and returns their frames in the same order. @throws the errors of the signer. */
export async function framesOf(signer: Signer, events: readonly DomainEvent[]): Promise<DomainFrame[]> {
  if (events.length === 0) return []
  const wires = await signEnvelopes(signer, (kid) => events.map((event) => envelopeText(event, kid)))
  return events.map(({ seq, type, domainId }, at) => ({
    seq,
    domainId,
    bytes: frameOf({ seq, type, wire: wires[at] ?? '' }),
  }))
}

function envelopeText({ seq, domainId, type, occurredAt, payload }: DomainEvent, kid: string): string {
  return canonicalDomainEnvelope({
    api_version: 'v1',
    domain_id: domainId,
    kid,
    occurred_at: occurredAt.toISOString(),
    payload,
    seq: Number(seq),
    type,
  })
}

/** The event that stands for events that are left out, up to that position. */
export function resyncAt(domainId: string, seq: bigint, nowMs: number): DomainEvent {
  return {
    seq,
    domainId,
    type: 'stream.resync',
    occurredAt: new Date(nowMs),
    payload: { object: `domain:${domainId}` },
  }
}
