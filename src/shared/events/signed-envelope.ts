import { canonicalize } from '../canonical-json.ts'
import { isMembers, type Members } from '../shapes.ts'
import { ENVELOPE, SIGNATURE, type EnvelopeMembers } from './envelope-shape.ts'

/**
 * An envelope as it was received. Members that this version does not know are kept, and so are types: a later server may
 * send more (S1 Versioning 2). `isEvent` narrows an envelope to the payload of a known type.
 */
export type ReceivedEnvelope = EnvelopeMembers & { readonly [member: string]: unknown }

/** The data of a frame in its parts. Nothing is verified. */
export interface SignedEnvelope<Envelope = ReceivedEnvelope> {
  readonly envelope: Envelope
  /** The signed text. */
  readonly canonical: string
  /** 64 bytes in base64url. */
  readonly signature: string
}

/** `malformed`: no signed envelope of this major version; `not_canonical`: one whose bytes are not the canonical text that was signed. */
export type ReadFault = 'malformed' | 'not_canonical'

export type ReadOutcome<Envelope = ReceivedEnvelope> =
  | { readonly ok: true; readonly signed: SignedEnvelope<Envelope> }
  | { readonly ok: false; readonly fault: ReadFault }

const SIGNATURE_AT_THE_END = new RegExp(`,"signature":"(?<signature>${SIGNATURE})"\\}$`)

/** Reads the data of a frame of a node's stream (S0 Events). */
export function readSigned(text: string): ReadOutcome {
  return readSignedAs(text, isEnvelope)
}

/** Reads the data of a frame: canonical text (RFC 8785) with the signature as its last member, and of the shape that is checked. */
export function readSignedAs<Envelope extends Members>(
  text: string,
  isShaped: (value: unknown) => value is Envelope,
): ReadOutcome<Envelope> {
  const found = SIGNATURE_AT_THE_END.exec(text)
  const signature = found?.groups?.['signature']
  if (found === null || signature === undefined) return { ok: false, fault: 'malformed' }
  const canonical = `${text.slice(0, found.index)}}`
  const envelope = parsed(canonical)
  if (!isShaped(envelope)) return { ok: false, fault: 'malformed' }
  if (!isCanonical(canonical, envelope)) return { ok: false, fault: 'not_canonical' }
  return { ok: true, signed: { envelope, canonical, signature } }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Duplicate members, white space, other escapes or orders do not survive serialization. Nor does a value that
 * is nested too deep for the stack, which no server signs.
 */
function isCanonical(text: string, value: Members): boolean {
  try {
    return canonicalize(value) === text
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return false
    throw error
  }
}

function isEnvelope(value: unknown): value is ReceivedEnvelope {
  // A second signature inside would be ambiguous.
  return ENVELOPE.fits(value) && isMembers(value) && !Object.hasOwn(value, 'signature')
}
