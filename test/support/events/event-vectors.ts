import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { canonicalEnvelope, signedEnvelope } from '../../../src/shared/events/envelope.ts'

export const NODE_ID = '0197a000-0000-7000-8000-00000000a001'
export const DOMAIN_ID = '0197a000-0000-7000-8000-00000000d001'

/** A signing key as `GET /v1/signing-keys` shows its public half. */
export interface VectorKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly jwk: Readonly<Record<string, unknown>>
}

/** PKCS #8 of an Ed25519 seed (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key of a seed of 32 equal bytes, the same in every run. */
export function vectorKey(kid: string, byte: number, more: Readonly<Record<string, unknown>> = {}): VectorKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.alloc(32, byte)]),
    format: 'der',
    type: 'pkcs8',
  })
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { kid, privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig', ...more } }
}

/** What differs from vector to vector. */
export interface VectorParts {
  readonly node_seq: number
  readonly node_id?: string
  readonly type?: string
  readonly payload?: unknown
  readonly occurred_at?: string
  /** Members that this version does not know. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** An envelope in all its forms: what documents show, and what a frame carries. */
export interface Vector {
  readonly canonical: string
  /** base64url. */
  readonly signature: string
  /** The data of a frame. */
  readonly wire: string
}

const HINT = { reason: 'changed', blocks: ['peers'], peers: [] }

/** Makes a signed envelope. */
export function vector(key: VectorKey, parts: VectorParts): Vector {
  const { node_seq, node_id = NODE_ID, type = 'node_state_updated', payload = HINT, more } = parts
  const { occurred_at = '2026-01-02T03:04:05.678Z' } = parts
  const event_id = `0197a000-0000-7000-8000-${String(node_seq % 1e12).padStart(12, '0')}`
  const plain = canonicalEnvelope({
    domain_id: DOMAIN_ID,
    event_id,
    kid: key.kid,
    node_id,
    node_seq: BigInt(node_seq),
    occurred_at,
    payload: canonicalize(payload),
    // A vector may be of a type that only a later version knows.
    type: type as 'node_state_updated',
  })
  return signed(key, more === undefined ? plain : canonicalize({ ...(JSON.parse(plain) as object), ...more }))
}

/** Signs any text as if it were an envelope. */
export function signed(key: VectorKey, canonical: string): Vector {
  const signature = sign(null, Buffer.from(canonical), key.privateKey).toString('base64url')
  return { canonical, signature, wire: signedEnvelope(canonical, signature) }
}

/** A vector as a frame of the stream. */
export function frameOf({ wire }: Vector, id: number | string, event = 'node_state_updated'): string {
  return `id: ${id}\nevent: ${event}\ndata: ${wire}\n\n`
}
