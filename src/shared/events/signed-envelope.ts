import { canonicalize } from '../canonical-json.ts'

/**
 * An envelope as it was received. Members that this version does not know are kept, and so are types: a later server may
 * send more (S1 Versioning 2). `isEvent` narrows an envelope to the payload of a known type.
 */
export interface ReceivedEnvelope {
  readonly api_version: 'v1'
  readonly domain_id: string
  readonly event_id: string
  readonly kid: string
  readonly node_id: string
  /** From 0, at most 2^53 - 1. */
  readonly node_seq: number
  /** RFC 3339. */
  readonly occurred_at: string
  readonly payload: Members
  readonly type: string
  readonly [member: string]: unknown
}

export type Members = Readonly<Record<string, unknown>>

/** The data of a frame in its parts. Nothing is verified. */
export interface SignedEnvelope {
  readonly envelope: ReceivedEnvelope
  /** The signed text. */
  readonly canonical: string
  /** 64 bytes in base64url. */
  readonly signature: string
}

/** `malformed`: no signed envelope of this major version; `not_canonical`: one whose bytes are not the canonical text that was signed. */
export type ReadFault = 'malformed' | 'not_canonical'

export type ReadOutcome =
  | { readonly ok: true; readonly signed: SignedEnvelope }
  | { readonly ok: false; readonly fault: ReadFault }

/** The last character of 64 bytes in base64url carries two bits; the other four are 0, so each signature has one text. */
const SIGNATURE_AT_THE_END = /,"signature":"(?<signature>[\w-]{85}[AQgw])"\}$/

/** Reads the data of a frame: canonical text (RFC 8785) with the signature as its last member (S0 Events). */
export function readSigned(text: string): ReadOutcome {
  const found = SIGNATURE_AT_THE_END.exec(text)
  const signature = found?.groups?.['signature']
  if (found === null || signature === undefined) return { ok: false, fault: 'malformed' }
  const canonical = `${text.slice(0, found.index)}}`
  const envelope = parsed(canonical)
  if (!isEnvelope(envelope)) return { ok: false, fault: 'malformed' }
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
function isCanonical(text: string, value: ReceivedEnvelope): boolean {
  try {
    return canonicalize(value) === text
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return false
    throw error
  }
}

const TEXTS = ['domain_id', 'event_id', 'kid', 'node_id', 'occurred_at', 'type'] as const

function isEnvelope(value: unknown): value is ReceivedEnvelope {
  if (!isMembers(value) || value['api_version'] !== 'v1' || !isMembers(value['payload'])) return false
  // A second one inside would be ambiguous.
  if (Object.hasOwn(value, 'signature')) return false
  return TEXTS.every((name) => isFilledText(value[name])) && isSequence(value['node_seq']) && isInstant(value)
}

function isSequence(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isInstant({ occurred_at }: Members): boolean {
  return (
    typeof occurred_at === 'string' && /^\d{4}-\d\d-\d\dT/.test(occurred_at) && !Number.isNaN(Date.parse(occurred_at))
  )
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Whether a value is a JSON object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
