import { useEffect, useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { counted } from '../model/format.ts'
import { useLoad } from './use-load.ts'

/** How much waits for a decision; undefined while it is not known, or may not be seen. At most 200 of each are counted. */
export interface Waiting {
  readonly approvals: number | undefined
  readonly violations: number | undefined
}

interface WaitingDeps {
  readonly api: Api
  readonly domainId: string
  readonly tick: number
  readonly announce: (text: string) => void
}

const COUNTED_MAX = '200'

/** Counts what waits for the person, and announces what is new. */
export function useWaiting({ api, domainId, tick, announce }: WaitingDeps): Waiting {
  const approvals = useLoad({ key: 'approvals', tick }, async (signal) => {
    const { items } = await api.call(
      'ListApprovals',
      { state: 'pending-approval', role: 'decider', limit: COUNTED_MAX },
      signal,
    )
    return items.length
  }).value
  const violations = useLoad({ key: domainId, tick }, async (signal) => {
    const asked = { domain_id: domainId, status: 'open', limit: COUNTED_MAX } as const
    const { items } = await api.call('ListDomainIntegrityViolations', asked, signal)
    return items.length
  }).value
  useAnnounced(approvals, (count) => announce(`${counted(count, 'approval')} to decide`))
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
