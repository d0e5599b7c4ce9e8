import { verifyAsync } from '@noble/ed25519'
import { canonicalize } from '../canonical-json.ts'
import type { ChainPosition } from './chain.ts'

/** What a signature over a position proves: the chain was there, or it was there and earlier rows may be gone. */
export type PositionKind = 'head' | 'checkpoint'

/** A position in a chain that the server signed (Ed25519). */
export interface SignedPosition extends ChainPosition {
  /** When it was signed: RFC 3339, UTC, milliseconds. */
  readonly at: string
  readonly kid: string
  /** 64 bytes in base64url. */
  readonly signature: string
}

/** A public key that verifies signatures. */
export interface SignatureKey {
  readonly kid: string
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  /** In ms; undefined where there is no such bound. */
  readonly notBeforeMs: number | undefined
  readonly notAfterMs: number | undefined
}

/** Why a signature is invalid. */
export type SignatureFault = 'unknown_key' | 'key_not_valid' | 'bad_signature'

/**
 * The bytes that are signed. The first line distinguishes them from everything else that the same keys sign: event envelopes
 * begin with a brace, and a head is no checkpoint.
 */
export function signedBytes(
  kind: PositionKind,
  chain: string,
  { seq, hash, at }: ChainPosition & { at: string },
): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`ctl audit ${kind} v1\n${canonicalize({ at, chain, hash, seq })}`)
}

/** The claimed kind of a position. */
export interface Claim {
  readonly kind: PositionKind
  readonly chain: string
}

/** Checks the signature of a position (RFC 8032 §5.1.7, cofactorless); undefined where it is valid. */
export async function signatureFault(
  { kind, chain }: Claim,
  position: SignedPosition,
  keys: readonly SignatureKey[],
): Promise<SignatureFault | undefined> {
  const key = keys.find(({ kid }) => kid === position.kid)
  if (key === undefined) return 'unknown_key'
  const atMs = Date.parse(position.at)
  if (atMs < (key.notBeforeMs ?? -Infinity) || atMs > (key.notAfterMs ?? Infinity)) return 'key_not_valid'
  const signature = bytesOf(position.signature)
  if (signature?.length !== 64) return 'bad_signature'
  const holds = await verifyAsync(signature, signedBytes(kind, chain, position), key.publicKey, { zip215: false })
  return holds ? undefined : 'bad_signature'
}

/** The bytes of base64url (RFC 4648 §5) without padding; undefined where the text is none. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
