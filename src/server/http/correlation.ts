import type { IncomingHttpHeaders } from 'node:http'

const WELL_FORMED = /^[A-Za-z0-9._:-]{1,128}$/

/** The correlation id of a request (S0 convention 4); a malformed header counts as absent. */
export function correlationIdOf(headers: IncomingHttpHeaders, mint: () => string): string {
  const own = headers['x-correlation-id']
  if (typeof own === 'string' && WELL_FORMED.test(own)) return own
  const other = headers['x-request-id']
  return typeof other === 'string' && WELL_FORMED.test(other) ? other : mint()
}
