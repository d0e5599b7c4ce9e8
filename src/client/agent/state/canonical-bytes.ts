import { canonicalTextOf } from './canonical-text.ts'

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
  const text = canonicalTextOf(value)
  const isCanonical = text !== undefined && bytes.equals(Buffer.from(text))
  return isCanonical ? { ok: true, value } : { ok: false, fault: 'not_canonical' }
}
