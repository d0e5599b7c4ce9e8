/** OpenBao takes at most 1,000 strings in a body by default, and an item is two of them: its name and its value. */
const ITEMS_MAX = 400
/** Of the texts, before base64. A server takes bodies of 32 MiB by default. */
const BYTES_MAX = 4 * 1024 * 1024

/** The parts of a batch that go into one call each, in order. A text is never divided. */
export function batchesOf(batch: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const parts: Uint8Array[][] = []
  let part: Uint8Array[] = []
  let bytes = 0
  for (const text of batch) {
    if (part.length > 0 && (part.length === ITEMS_MAX || bytes + text.length > BYTES_MAX)) {
      parts.push(part)
      part = []
      bytes = 0
    }
    part.push(text)
    bytes += text.length
  }
  return part.length === 0 ? parts : [...parts, part]
}
