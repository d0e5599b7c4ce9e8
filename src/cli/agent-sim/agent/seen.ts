/** Of older ones a late pull could tell again; the server answers it with a refusal that is passed over. */
const SEEN_MAX = 64

/** Whether an id is new, which it is once. */
export function isNew(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return false
  const [oldest] = seen
  if (seen.size >= SEEN_MAX && oldest !== undefined) seen.delete(oldest)
  seen.add(id)
  return true
}
