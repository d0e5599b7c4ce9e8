import type { Deprecation } from '../../shared/contract/operation.ts'

/** What is checked of a marker; a member of a schema has no successor of this form. */
type Marker = Omit<Deprecation, 'successor'> & { readonly successor?: string }

/** What every response of a deprecated operation carries (RFC 9745, RFC 8594). */
export interface DeprecationHeaders {
  readonly deprecation: string
  readonly sunset: string | undefined
}

const SUCCESSOR = /^(?:GET|POST|PUT|PATCH|DELETE) \/v\d+\/\S+$/
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/**
 * Works out the headers of a marker (S1 Versioning 6).
 *
 * @throws Error with the prefix `api deprecations:` where an instant or the successor is malformed, or the sunset is before the
 *   since.
 */
export function deprecationHeaders(id: string, marker: Marker | undefined): DeprecationHeaders | undefined {
  if (marker === undefined) return undefined
  const since = instant(id, 'since', marker.since)
  const sunset = marker.sunset === undefined ? undefined : instant(id, 'sunset', marker.sunset)
  if (sunset !== undefined && sunset < since) {
    throw new Error(`api deprecations: ${id}: the sunset is before the since instant`)
  }
  if (marker.successor !== undefined && !SUCCESSOR.test(marker.successor)) {
    throw new Error(`api deprecations: ${id}: the successor is not a method and a path`)
  }
  return {
    deprecation: `@${Math.floor(since / 1000)}`,
    sunset: sunset === undefined ? undefined : new Date(sunset).toUTCString(),
  }
}

function instant(id: string, member: string, text: unknown): number {
  const ms = typeof text === 'string' && RFC3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw new Error(`api deprecations: ${id}: ${member} is not an RFC 3339 instant`)
  return ms
}
