/** A code span, or a character that would begin a tag or emphasis. */
const SPAN_OR_MARK = /`[^`]*`|[<*]/g

/**
 * Copies a document with its descriptions made CommonMark, as OpenAPI reads them: the contract writes plain text with code
 * spans, in which `<id>` is a hole and no tag. What is in code spans stays, and so do examples.
 */
export function withCommonMark<T>(document: T): T {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, visitMember(key, member)]))
  }
  const visitMember = (key: string, member: unknown): unknown => {
    if (key === 'example') return member
    return key === 'description' && typeof member === 'string' ? escaped(member) : visit(member)
  }
  // Objects in, objects out: only texts change.
  return visit(document) as T
}

function escaped(text: string): string {
  return text.replaceAll(SPAN_OR_MARK, (found) => (found.length === 1 ? `\\${found}` : found))
}
