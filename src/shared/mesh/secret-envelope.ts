import { versionedRef } from '../bridges/secret-ref.ts'
import {
  NONCE_BYTES,
  openUnderNsk,
  sealUnderNsk,
  TAG_BYTES,
  type EnvelopeFault,
  type EnvelopeSeal,
} from './nsk-envelope.ts'

/** What an envelope is longer than the secret inside, in bytes: `nonce (12) | ciphertext | tag (16)`. */
export const SECRET_OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

/** The values that an envelope of `GET /v1/nodes/{id}/secrets` is bound to. */
export interface SecretPlace {
  /** The node that fetched it. */
  readonly nodeId: string
  /** The reference as it was asked for, with or without a version. */
  readonly ref: string
  /** The value of `X-Service-Secret-Version`. It counts only where the reference has no version. */
  readonly version: number
}

/** `wrong_length`: it is shorter than 28 bytes. */
export type OpenedSecret =
  | { readonly ok: true; readonly secret: Uint8Array }
  | { readonly ok: false; readonly fault: EnvelopeFault }

/** The associated data of an envelope: the reference always has a version there (decisions: Degradation, secrets, signing). */
export function secretAad({ nodeId, ref, version }: SecretPlace): Uint8Array {
  return new TextEncoder().encode(`service/secrets/v1|${nodeId.toLowerCase()}|${versionedRef(ref, version)}`)
}

/**
 * Opens an envelope with the 32 key bytes of the node secret key that fetched it (`parseNsk`). One of another version than
 * the reference names, or than the header says, does not open.
 *
 * @throws RangeError where the key has another length.
 */
export function openSecretEnvelope(envelope: Uint8Array, key: Uint8Array, place: SecretPlace): OpenedSecret {
  if (envelope.length < SECRET_OVERHEAD_BYTES) return { ok: false, fault: 'wrong_length' }
  const secret = openUnderNsk(envelope, key, secretAad(place))
  return secret === undefined ? { ok: false, fault: 'not_authentic' } : { ok: true, secret }
}

/** Seals a secret as the server does, for programs that stand in for it. @throws RangeError for a key or nonce of another length. */
export function sealSecretEnvelope(secret: Uint8Array, seal: EnvelopeSeal, place: SecretPlace): Uint8Array {
  return sealUnderNsk(secret, seal, secretAad(place))
}
