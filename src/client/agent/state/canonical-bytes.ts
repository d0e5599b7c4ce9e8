import { canonicalize } from '../../../shared/canonical-json.ts'

export type ParsedBytes =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: 'not_json' | 'not_canonical' }

/** Parses JSON and checks that it is in canonical form (RFC 8785). */
export function parseCanonical(bytes: Buffer): ParsedBytes {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    return { ok: false, fault: 'not_json' }
  }
  return isCanonical(value, bytes) ? { ok: true, value } : { ok: false, fault: 'not_canonical' }
}

function isCanonical(value: unknown, bytes: Buffer): boolean {
  try {
    return bytes.equals(Buffer.from(canonicalize(value)))
  } catch (error) {
    // It has no canonical form: a lone surrogate, or a number out of range.
    if (error instanceof TypeError) return false
    throw error
  }
}
