/**
 * The one text of a JSON value (RFC 8785): members in the order of their UTF-16 units, no white space, numbers and strings
 * as ECMAScript writes them. Members that are undefined are left out.
 * @throws TypeError where the value has no such text: a number that is not finite, a lone surrogate, or no JSON at all.
 */
export function canonicalize(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'number') return numberOf(value)
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  if (isPlain(value)) return membersOf(value)
  throw new TypeError(`a ${typeof value} has no canonical JSON`)
}

const SURROGATE = /[\ud800-\udfff]/

function textOf(text: string): string {
  if (SURROGATE.test(text) && !isWellFormed(text)) throw new TypeError('a lone surrogate has no canonical JSON')
  return JSON.stringify(text)
}

/** A pair becomes one code point under `u`; what is left of the range is unpaired. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function numberOf(number: number): string {
  if (!Number.isFinite(number)) throw new TypeError(`${number} has no canonical JSON`)
  return JSON.stringify(number)
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function membersOf(value: Readonly<Record<string, unknown>>): string {
  let text = ''
  // The default order of `sort` is that of UTF-16 units, which RFC 8785 §3.2.3 asks for.
  for (const name of Object.keys(value).toSorted()) {
    const member = value[name]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${textOf(name)}:${canonicalize(member)}`
  }
  return `{${text}}`
}
