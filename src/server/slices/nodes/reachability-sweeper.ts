import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { takeTransitions, type Transition, type TransitionScope } from './announced-store.ts'
import { reachabilityAt } from '../../sql/reachability.ts'

const SWEEP_EVERY_MS = 15_000
/** Nodes in one transaction: a heartbeat of one of them waits for its end. */
export const TRANSITIONS_MAX = 200

/**
 * The job that announces changes of reachability by time, and those by heartbeats that were not announced. A node that was lost
 * and recovered between two sweeps is not announced.
 */
export function createReachabilitySweeper(deps: { readonly clock: Clock; readonly ids: IdSource }): LeaderJob {
  return {
    name: 'reachability',
    everyMs: SWEEP_EVERY_MS,
    async run({ unitOfWork }) {
      const scope = { nowMs: deps.clock.now(), max: TRANSITIONS_MAX }
      return (await announceTransitions({ ...deps, unitOfWork }, scope)) === TRANSITIONS_MAX
    },
  }
}

/** Announces changes of reachability, each with its mark in one transaction. Resolves with how many there were. */
export function announceTransitions(
  { unitOfWork, ids }: { readonly unitOfWork: UnitOfWork; readonly ids: IdSource },
  scope: TransitionScope,
): Promise<number> {
  const options = { pool: 'worker', correlationId: ids.next() } as const
  return unitOfWork.run(options, async (change) => {
    const transitions = await takeTransitions(change.db, scope)
    for (const transition of transitions) announce(change, transition, scope.nowMs)
    return transitions.length
  })
}

function announce(change: Change, transition: Transition, nowMs: number): void {
  const { nodeId, domainId, from, to } = transition
  const changedAt = new Date(reachabilityAt(transition, nowMs).changedAtMs).toISOString()
  change.emit({
    event: 'NodeReachabilityChanged',
    domainId,
    aggregate: `node:${nodeId}`,
    payload: { node_id: nodeId, from, to, changed_at: changedAt },
  })
}
