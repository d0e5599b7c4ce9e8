/**
 * Checks whether a text can be stored and signed: U+0000 is refused by PostgreSQL's text and jsonb, a lone surrogate by
 * jsonb and by RFC 8785.
 */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/**
 * The same for every string and key of a parsed JSON value; `__proto__` as a key is refused too, since assigning it
 * elsewhere would change an object instead of its members. Walks with an explicit stack: nesting as deep as a body cap
 * allows would overflow the call stack.
 */
export function isStorableValue(value: unknown): boolean {
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string' && !isStorableText(next)) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [key, member] of Object.entries(next)) {
      if (key === '__proto__' || !isStorableText(key)) return false
      pending.push(member)
    }
  }
  return true
}
