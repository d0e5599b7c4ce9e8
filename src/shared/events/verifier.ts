import { verifyAsync } from '@noble/ed25519'
import { bytesOf, type SignatureKey } from '../audit/signed-position.ts'
import { readSigned, type ReadFault, type ReceivedEnvelope, type SignedEnvelope } from './signed-envelope.ts'

/** Whether an Ed25519 signature is valid (RFC 8032 §5.1.7). Never throws: a malformed signature or key is invalid. */
export type VerifySignature = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean | Promise<boolean>

/** Finds the published key of a name; undefined where none is published under it. */
export type FindKey = (kid: string) => SignatureKey | undefined | Promise<SignatureKey | undefined>

/**
 * Why an envelope is refused.
 * `unknown_key`: no key of that name is published; `expired_key`: the key verified nothing any more when the event occurred;
 * `bad_signature`: these bytes were not signed by that key; `wrong_node`: genuine, but addressed to another node.
 */
export type EnvelopeFault = ReadFault | 'unknown_key' | 'expired_key' | 'bad_signature' | 'wrong_node'

export type Verification =
  | { readonly ok: true; readonly envelope: ReceivedEnvelope }
  /** The envelope is present if it could be read; the agent must not act on it. */
  | { readonly ok: false; readonly fault: EnvelopeFault; readonly envelope: ReceivedEnvelope | undefined }

export interface VerifierDeps {
  readonly findKey: FindKey
  /** Default: noble's, which runs everywhere and is slower than that of a platform. */
  readonly verify?: VerifySignature
}

export interface VerifyOptions {
  /** The node whose events are expected; any when absent. */
  readonly nodeId?: string | undefined
}

/** Verifies the data of a frame: its format, its signature and its recipient. */
export type EnvelopeVerifier = (text: string, options?: VerifyOptions) => Promise<Verification>

/**
 * Creates a verifier. The start of a key's validity is not checked: an event that waited for its signature is older
 * than the key may be, and the holder of a key can sign any time anyway.
 */
export function createEnvelopeVerifier({ findKey, verify = verifyWithNoble }: VerifierDeps): EnvelopeVerifier {
  return async (text, { nodeId } = {}) => {
    const read = readSigned(text)
    if (!read.ok) return { ok: false, fault: read.fault, envelope: undefined }
    const { envelope } = read.signed
    const fault = await signatureFault(read.signed, { findKey, verify })
    if (fault !== undefined) return { ok: false, fault, envelope }
    const isOther = nodeId !== undefined && envelope.node_id !== nodeId
    return isOther ? { ok: false, fault: 'wrong_node', envelope } : { ok: true, envelope }
  }
}

const ENCODER = new TextEncoder()

/** Why an envelope was not signed as it claims; undefined where it was. Rejects where a key cannot be looked up. */
export async function signatureFault(
  { envelope, canonical, signature }: SignedEnvelope<{ readonly kid: string; readonly occurred_at: string }>,
  { findKey, verify = verifyWithNoble }: VerifierDeps,
): Promise<'unknown_key' | 'expired_key' | 'bad_signature' | undefined> {
  const key = await findKey(envelope.kid)
  if (key === undefined) return 'unknown_key'
  if (Date.parse(envelope.occurred_at) >= (key.notAfterMs ?? Infinity)) return 'expired_key'
  const bytes = bytesOf(signature)
  const holds = bytes !== undefined && (await verify(bytes, ENCODER.encode(canonical), key.publicKey))
  return holds ? undefined : 'bad_signature'
}

/** Verifies with noble, strictly: no points of small order, no non-canonical signatures. */
export const verifyWithNoble: VerifySignature = (signature, message, publicKey) =>
  verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false)

/** Finds keys in a list that does not change. */
export function keysIn(keys: readonly SignatureKey[]): FindKey {
  const byId = new Map(keys.map((key) => [key.kid, key]))
  return (kid) => byId.get(kid)
}
