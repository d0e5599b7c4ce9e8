/**
 * Number of remembered ids. If a late pull repeats an older one, the server refuses the call and the refusal is
 * ignored.
 */
const SEEN_MAX = 64

/** Adds an id. Returns false if it was there. */
export function addIfNew(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return false
  const [oldest] = seen
  if (seen.size >= SEEN_MAX && oldest !== undefined) seen.delete(oldest)
  seen.add(id)
  return true
}
