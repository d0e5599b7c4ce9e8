import { useEffect, useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Approval, Violation } from '../api/operations.ts'
import type { Changes } from '../model/changes.ts'
import { counted } from '../model/format.ts'
import { tickOf, useLoad, type Loaded } from './use-load.ts'

/** What waits for a decision; at most 200 of each. */
export interface Waiting {
  readonly approvals: Loaded<readonly Approval[]>
  /** Those that are open in the Domain; undefined for a person who may not read it. */
  readonly violations: Loaded<readonly Violation[] | undefined>
  /** Those that the page has seen open, by their ids, at most 1,000. Events name violations that are open no more. */
  readonly seenViolations: ReadonlyMap<string, Violation>
}

interface WaitingDeps {
  readonly api: Api
  readonly domainId: string
  readonly mayReadDomain: boolean
  readonly changes: Changes
  readonly decisions: number
  readonly announce: (text: string) => void
}

const COUNTED_MAX = '200'
const SEEN_VIOLATIONS_MAX = 1_000

/** Reads what waits for the person, and announces what is new. */
export function useWaiting({ api, domainId, mayReadDomain, ...deps }: WaitingDeps): Waiting {
  const { changes, decisions, announce } = deps
  const approvals = useLoad(
    { key: 'approvals', tick: tickOf(changes, { topics: ['approvals'], decisions }) },
    async (signal) => {
      const asked = { state: 'pending-approval', role: 'decider', limit: COUNTED_MAX } as const
      return (await api.call('ListApprovals', asked, signal)).items
    },
  )
  const violations = useLoad(
    { key: domainId, tick: tickOf(changes, { topics: ['violations'], decisions }) },
    async (signal) => {
      if (!mayReadDomain) return undefined
      const asked = { domain_id: domainId, status: 'open', limit: COUNTED_MAX } as const
      return (await api.call('ListDomainIntegrityViolations', asked, signal)).items
    },
  )
  const seenViolations = useSeen(violations.value)
  useAnnounced(approvals.value?.length, (count) => announce(`${counted(count, 'approval')} to decide`))
  useAnnounced(violations.value?.length, (count) => announce(counted(count, 'open violation')))
  return { approvals, violations, seenViolations }
}

/** Remembers rows by their ids; the oldest go first. */
function useSeen(rows: readonly Violation[] | undefined): ReadonlyMap<string, Violation> {
  const seen = useRef<ReadonlyMap<string, Violation>>(new Map())
  const last = useRef(rows)
  if (rows !== undefined && last.current !== rows) {
    const all = [...seen.current, ...rows.map((row) => [row.id, row] as const)]
    seen.current = new Map([...new Map(all)].slice(-SEEN_VIOLATIONS_MAX))
  }
  last.current = rows
  return seen.current
}

/** Says how many there are when there are more than before. */
function useAnnounced(count: number | undefined, say: (count: number) => void): void {
  const known = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (known.current !== undefined && count !== undefined && count > known.current) say(count)
    known.current = count
  }, [count])
}
