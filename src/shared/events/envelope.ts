import { canonicalize } from '../canonical-json.ts'
import { ENVELOPE_MAJOR } from './envelope-shape.ts'
import type { Payloads, WireType } from './wire-types.ts'

/** An event as its node receives it, without the signature (decisions: Events). Members in canonical order. */
export interface Envelope<Type extends WireType = WireType> {
  readonly api_version: typeof ENVELOPE_MAJOR
  readonly domain_id: string
  /** UUIDv7. */
  readonly event_id: string
  /** The key that signed. */
  readonly kid: string
  readonly node_id: string
  /** Per node, 1, 2, 3 …: a missing number is a missed event. At most 2^53 - 1. */
  readonly node_seq: number
  /** RFC 3339, UTC, milliseconds. */
  readonly occurred_at: string
  readonly payload: Payloads[Type]
  readonly type: Type
}

/** The parts of the canonical text. The payload is canonical already, so that it is rendered once for many nodes. */
export type EnvelopeParts = Omit<Envelope, 'api_version' | 'payload' | 'node_seq'> & {
  readonly node_seq: bigint
  /** Canonical JSON. */
  readonly payload: string
}

/** The bytes that are signed, as text (RFC 8785). Ids, instants and `kid` are plain ASCII without anything to escape. */
export function canonicalEnvelope(parts: EnvelopeParts): string {
  const { domain_id, event_id, kid, node_id, node_seq, occurred_at, payload, type } = parts
  return `{"api_version":"${ENVELOPE_MAJOR}","domain_id":"${domain_id}","event_id":"${event_id}","kid":"${kid}","node_id":"${node_id}","node_seq":${node_seq},"occurred_at":"${occurred_at}","payload":${payload},"type":"${type}"}`
}

/** The canonical text of a payload. @throws TypeError where it has no canonical form. */
export function canonicalPayload(payload: Payloads[WireType]): string {
  return canonicalize(payload)
}

/** The data of a frame: the canonical text with the signature before its closing brace. `signature` is base64url. */
export function signedEnvelope(canonical: string, signature: string): string {
  return `${canonical.slice(0, -1)},"signature":"${signature}"}`
}

/** The canonical text of the payload in what `signedEnvelope` gave. The envelope says neither name before it, nor the second after it. */
export function payloadIn(wire: string): string {
  return wire.slice(wire.indexOf(PAYLOAD) + PAYLOAD.length, wire.lastIndexOf(',"type":"'))
}

const PAYLOAD = '"payload":'
