import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import {
  CHAIN_START,
  sealHash,
  type AuditedDecision,
  type SealedDecision,
  type Sha256,
} from '../../../src/shared/audit/chain.ts'
import {
  signedBytes,
  type SignatureKey,
  type PositionKind,
  type SignedPosition,
} from '../../../src/shared/audit/signed-position.ts'

export const nodeSha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex')

export const CHAIN_DOMAIN = '01935b5e-0000-7000-8000-000000000001'
export const CHAIN = `domain:${CHAIN_DOMAIN}`
const AT_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** A key pair with what verifies it. */
export interface TestKey {
  readonly jwk: Readonly<Record<string, string>>
  readonly verification: SignatureKey
  sign(kind: PositionKind, place: { readonly seq: number; readonly hash: string }): SignedPosition
}

/** The PKCS #8 form of an Ed25519 key before its 32 secret bytes (RFC 8410 §7). */
const PKCS8_BEGIN = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key pair; the same one for the same name. */
export function makeTestKey(kid: string, secret = kid): TestKey {
  const seed = createHash('sha256').update(secret).digest()
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_BEGIN, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return {
    jwk: { kty: 'OKP', crv: 'Ed25519', kid, x, alg: 'EdDSA', use: 'sig' },
    verification: {
      kid,
      publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
      notBeforeMs: AT_MS - 1000,
      notAfterMs: undefined,
    },
    sign: (kind, place) => signWith({ kid, privateKey }, kind, place),
  }
}

function signWith(
  { kid, privateKey }: { readonly kid: string; readonly privateKey: KeyObject },
  kind: PositionKind,
  { seq, hash }: { readonly seq: number; readonly hash: string },
): SignedPosition {
  const at = new Date(AT_MS + seq).toISOString()
  const signature = sign(null, signedBytes(kind, CHAIN, { seq, hash, at }), privateKey).toString('base64url')
  return { seq, hash, at, kid, signature }
}

/** The decision of that number. */
export function decision(number: number): AuditedDecision {
  return {
    id: `01935b5e-8f3a-7c61-9d0a-${String(number).padStart(12, '0')}`,
    at: new Date(AT_MS + number).toISOString(),
    domain_id: CHAIN_DOMAIN,
    subject: 'user:01935b5e-0000-7000-8000-000000000002',
    relation: 'node.list',
    object: 'platform:main',
    outcome: 'granted',
    reason: 'granted',
    correlation_id: `c-${number}`,
    context: { item_count: number, 'node.list.authz_errors': 0 },
  }
}

/** A chain of so many rows. */
export function chainOfRows(count: number): readonly SealedDecision[] {
  const rows: SealedDecision[] = []
  let previous = CHAIN_START
  for (let number = 1; number <= count; number++) {
    const row = decision(number)
    const hash = sealHash(nodeSha256, previous, row)
    previous = { seq: number, hash }
    rows.push({ ...row, ...previous })
  }
  return rows
}
