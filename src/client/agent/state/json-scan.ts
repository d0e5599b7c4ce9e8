const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The offset after the object or list that opens at `from`. Only matches brackets; the content may be invalid JSON. Undefined
 * if no bracket opens there or it is not closed.
 */
export function endOf(bytes: Buffer, from: number): number | undefined {
  let depth = 0
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = closingQuote(bytes, at)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1
    if (depth === 0) return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? at + 1 : undefined
  }
  return undefined
}

/**
 * The offset after the opening bracket of a list that is a member of the outermost object; undefined if there is none. Ignores
 * nested members of that name and strings that contain it.
 */
export function listOf(bytes: Buffer, name: string): number | undefined {
  const opening = Buffer.from(`${JSON.stringify(name)}:[`)
  let depth = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = at + opening.length
      if (depth === 1 && bytes.compare(opening, 0, opening.length, at, Math.min(end, bytes.length)) === 0) return end
      at = closingQuote(bytes, at)
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1
  }
  return undefined
}

/** The offset of the closing quote of the string that begins at `opening`; the length of the bytes if there is none. */
function closingQuote(bytes: Buffer, opening: number): number {
  for (let at = opening + 1; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at += 1
    else if (byte === QUOTE) return at
  }
  return bytes.length
}
