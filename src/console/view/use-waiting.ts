import { useEffect, useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Approval } from '../api/operations.ts'
import type { Changes } from '../model/changes.ts'
import { counted } from '../model/format.ts'
import { tickOf, useLoad, type Loaded } from './use-load.ts'

/** What waits for a decision; at most 200 of each. */
export interface Waiting {
  readonly approvals: Loaded<readonly Approval[]>
  /** How many are open; undefined while it is not known, or may not be seen. */
  readonly violations: number | undefined
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
      return (await api.call('ListDomainIntegrityViolations', asked, signal)).items.length
    },
  ).value
  useAnnounced(approvals.value?.length, (count) => announce(`${counted(count, 'approval')} to decide`))
  useAnnounced(violations, (count) => announce(counted(count, 'open violation')))
  return { approvals, violations }
}

/** Says how many there are when there are more than before. */
function useAnnounced(count: number | undefined, say: (count: number) => void): void {
  const known = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (known.current !== undefined && count !== undefined && count > known.current) say(count)
    known.current = count
  }, [count])
}
