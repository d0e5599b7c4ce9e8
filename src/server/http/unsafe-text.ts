/**
 * Tells whether a text can be stored and signed: U+0000 is refused by PostgreSQL's text and jsonb, a lone surrogate by
 * jsonb and by RFC 8785.
 */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/** The same for every string and key of a parsed JSON value. */
export function isStorableValue(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorableValue)
  return Object.entries(value).every(([key, member]) => isStorableText(key) && isStorableValue(member))
}
