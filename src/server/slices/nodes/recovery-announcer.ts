import type { Clock, IdSource } from '../../ports/clock.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { announceTransitions, TRANSITIONS_MAX } from './reachability-sweeper.ts'

export interface RecoveryAnnouncerDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
  /** Called with an announcement that failed; the leader's next sweep repeats it. */
  readonly onFailure: (error: unknown) => void
}

/** Announces nodes that are healthy again, after the answers to their heartbeats. */
export interface RecoveryAnnouncer {
  /** Takes nodes whose heartbeat is committed and whose last announced state is not healthy. Returns at once. */
  add(nodeIds: readonly string[]): void
  /** Resolves when all taken nodes are announced. */
  settled(): Promise<void>
}

/** Nodes that wait at most; those beyond are left to the sweeper. */
const WAITING_MAX = 20_000

/** One transaction at a time, so that a fleet that reconnects at once uses one connection. */
export function createRecoveryAnnouncer(deps: RecoveryAnnouncerDeps): RecoveryAnnouncer {
  const waiting = new Set<string>()
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    // Heartbeats are answered first.
    await new Promise(setImmediate)
    while (waiting.size > 0) {
      const nodeIds = [...waiting].slice(0, TRANSITIONS_MAX)
      for (const id of nodeIds) waiting.delete(id)
      await announceTransitions(deps, { nowMs: deps.clock.now(), max: TRANSITIONS_MAX, nodeIds }).catch(deps.onFailure)
    }
    running = undefined
  }

  return {
    add(nodeIds) {
      for (const id of nodeIds) if (waiting.size < WAITING_MAX) waiting.add(id)
      running ??= run()
    },
    async settled() {
      await running
    },
  }
}
