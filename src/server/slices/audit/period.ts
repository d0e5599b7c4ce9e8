import { problem } from '../../../shared/problems.ts'

/** A period of time, `since` inclusive, `until` exclusive. */
export interface Period {
  readonly since: Date | undefined
  readonly until: Date | undefined
}

/**
 * Reads the period of a query.
 * @throws Problem `invalid_audit_filter` where it is empty, or outside of 1970 to 9999: no row can be there, and the
 * datastore may not know such an instant.
 */
export function periodOf({ since, until }: { since?: string | undefined; until?: string | undefined }): Period {
  const period = { since: instantOf(since), until: instantOf(until) }
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until) {
    throw problem('invalid_audit_filter')
  }
  return period
}

const EARLIEST_MS = Date.UTC(1970, 0)
const LATEST_MS = Date.UTC(9999, 11, 31)

function instantOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (ms >= EARLIEST_MS && ms <= LATEST_MS) return new Date(ms)
  throw problem('invalid_audit_filter')
}
