/** Query members by name; a repeated one has all its values. */
export type QueryMembers = Readonly<Record<string, string | readonly string[]>>

/** Marks a query whose percent-encoding is broken. */
export const BROKEN_QUERY: QueryMembers = Object.freeze(Object.create(null))

/** The value for requests without a query, which are most. */
export const NO_QUERY: QueryMembers = Object.freeze(Object.create(null))

/**
 * Splits the query of a URL (application/x-www-form-urlencoded). Broken percent-encoding makes the whole of it
 * `BROKEN_QUERY`, where the usual parsers would pass the raw text on as if it had been meant.
 */
export function parseQueryString(text: string): QueryMembers {
  if (text === '') return NO_QUERY
  const members: Record<string, string | string[]> = Object.create(null)
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decoded(equals === -1 ? part : part.slice(0, equals))
    const value = decoded(equals === -1 ? '' : part.slice(equals + 1))
    if (name === undefined || value === undefined) return BROKEN_QUERY
    const known = members[name]
    members[name] = known === undefined ? value : [known, value].flat()
  }
  return members
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
