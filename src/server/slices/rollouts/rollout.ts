import type { Result } from '../../../shared/contract/operation-types.ts'
import type { rollouts } from '../../../shared/contract/rollouts.ts'
import type { Count, ListedNode } from './nodes-store.ts'
import type { RolloutRecord, Status } from './store.ts'
import type { NodeState, Wave, WaveProgress } from './tables.ts'

type Operations = (typeof rollouts)['operations']
export type RolloutAnswer = Result<Operations['GetRollout']>
type NodeAnswer = Result<Operations['ListRolloutNodes']>['items'][number]

/** The subject in the audit log of what rollouts do by themselves. */
export const SYSTEM = 'system:rollouts'

/** The rollout in references: in the audit, and as the holder of Definitions. */
export function referenceOf(rolloutId: string): string {
  return `rollout:${rolloutId}`
}

const ENDS: ReadonlySet<Status> = new Set(['halted', 'completed', 'cancelled'])

/** Whether the status is final. */
export function isEnd(status: Status): boolean {
  return ENDS.has(status)
}

const NO_NODES: Readonly<Record<NodeState, number>> = {
  pending: 0,
  upgrading: 0,
  soaking: 0,
  done: 0,
  failed: 0,
  skipped: 0,
}

interface Plan {
  readonly canaries: number
  readonly waves: readonly Wave[]
}

/** How far each wave of a plan is, with the canaries first where there are any. */
export function progressOf({ canaries, waves }: Plan, counts: readonly Count[]): readonly WaveProgress[] {
  const numbers = [...(canaries > 0 ? [0] : []), ...waves.map((_, index) => index + 1)]
  return numbers.map((wave) => {
    const own = counts.filter((count) => count.wave === wave)
    return {
      wave,
      nodes: own.reduce((sum, { nodes }) => sum + nodes, 0),
      counts: { ...NO_NODES, ...Object.fromEntries(own.map(({ state, nodes }) => [state, nodes])) },
    }
  })
}

/** How many nodes of all waves are in one of the states. */
export function countIn(progress: readonly WaveProgress[], ...states: readonly NodeState[]): number {
  return progress.reduce((sum, { counts }) => sum + states.reduce((own, state) => own + counts[state], 0), 0)
}

/** The rollout as the API shows it. */
export function toAnswer(rollout: RolloutRecord): RolloutAnswer {
  const { waves, maintenance_window: window, progress, in_flight: _inFlight, ...shown } = rollout
  return {
    ...shown,
    waves: waves.map((wave) => ({ ...wave })),
    window: window && { ...window, days: [...window.days] },
    node_count: progress.reduce((sum, { nodes }) => sum + nodes, 0),
    progress: progress.map(({ counts, ...wave }) => ({ ...wave, counts: { ...counts } })),
    failures: countIn(progress, 'failed'),
    created_at: rollout.created_at.toISOString(),
    started_at: rollout.started_at?.toISOString() ?? null,
    finished_at: rollout.finished_at?.toISOString() ?? null,
    updated_at: rollout.updated_at.toISOString(),
  }
}

/** A node of a rollout as the API shows it. */
export function toNode({ place: _place, ...node }: ListedNode): NodeAnswer {
  return { ...node, updated_at: node.updated_at.toISOString() }
}
