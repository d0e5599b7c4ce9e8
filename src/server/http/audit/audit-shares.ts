import type { AuditEntry } from '../../ports/unit-of-work.ts'

type Counted = Pick<AuditEntry, 'subject' | 'outcome'>

/** Divides the places of the audit queue between callers. */
export interface AuditShares {
  /** Takes a place for a row; false where the share of its subject is used up. */
  take(row: Counted): boolean
  /** Gives back the places of rows that have left the queue. */
  release(rows: readonly Counted[]): void
}

/** Refusals may use this part of the queue at most. */
const REFUSED_PART = 0.5

/**
 * Creates the shares of a queue with the given number of places. A subject may use as many places as are free: one caller alone gets half
 * of them, n callers that fill the queue get 1/(n+1) each, and there is always room for the rows of the next caller. The
 * places of refusals are divided in the same way and apart from the others, so that refusals never push out other rows.
 */
export function createAuditShares(places: number): AuditShares {
  const refused = createPool()
  const others = createPool()
  const isRefusal = ({ outcome }: Counted): boolean => outcome === 'permission_denied'

  return {
    take(row) {
      const free = places - refused.size() - others.size()
      if (!isRefusal(row)) return others.take(row.subject, free)
      return refused.take(row.subject, Math.min(free, places * REFUSED_PART - refused.size()))
    },
    release(rows) {
      for (const row of rows) (isRefusal(row) ? refused : others).release(row.subject)
    },
  }
}

function createPool() {
  const used = new Map<string, number>()
  let size = 0
  return {
    size: () => size,
    take(subject: string, free: number): boolean {
      const own = used.get(subject) ?? 0
      if (own >= free) return false
      used.set(subject, own + 1)
      size += 1
      return true
    },
    release(subject: string): void {
      const left = (used.get(subject) ?? 1) - 1
      if (left > 0) used.set(subject, left)
      else used.delete(subject)
      size -= 1
    },
  }
}
