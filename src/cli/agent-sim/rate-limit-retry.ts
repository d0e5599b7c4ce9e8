import type { FleetDeps } from './fleet-deps.ts'
import { measure } from './measure.ts'
import { requestedWaitMs } from '../../client/agent/calls/requested-wait.ts'
import type { Pacer } from '../../client/agent/calls/pacer.ts'
import type { AgentOperation } from '../../client/agent/calls/operations.ts'

/** How a paced call is made. */
export interface PacedCall {
  readonly operation: AgentOperation
  readonly pace: Pacer
  /** No call starts after it is aborted. */
  readonly until: AbortSignal
}

/** Maximum number of tries of a rate-limited call. */
const TRIES_MAX = 10

/**
 * Makes a paced call, and retries it after the time that a rate limit requests. Counts each try. Resolves with undefined if
 * the call failed or was cancelled.
 */
export async function withRateLimitRetries<T>(
  { clock, statistics }: FleetDeps,
  { operation, pace, until }: PacedCall,
  call: () => Promise<T>,
): Promise<{ readonly answer: T } | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    await pace(until)
    if (until.aborted) return undefined
    let waitMs: number | undefined
    const outcome = await measure(statistics, operation, () =>
      call().then(
        (answer) => ({ answer }),
        (error: unknown) => {
          waitMs = requestedWaitMs(error)
          throw error
        },
      ),
    )
    if (outcome !== undefined || waitMs === undefined) return outcome
    await clock.pause(waitMs, until)
  }
  return undefined
}
