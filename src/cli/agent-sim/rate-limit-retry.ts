import { ProblemAnswer } from '../../client/failures.ts'
import type { FleetDeps } from './fleet-deps.ts'
import { measure } from './measure.ts'
import type { Pacer } from './pacer.ts'
import type { SimulatedOperation } from './counts.ts'

/** Under which terms a call is made. */
export interface Terms {
  readonly operation: SimulatedOperation
  readonly pace: Pacer
  /** Nothing is begun any more once it is aborted. */
  readonly until: AbortSignal
}

/** A call that was sent away so often is given up. */
const TRIES_MAX = 10

/**
 * Makes a call when it is its turn, and again after the time that a rate limit asks for. Each try is counted. Resolves
 * with undefined when it failed or was given up.
 */
export async function patiently<T>(
  { clock, statistics }: FleetDeps,
  { operation, pace, until }: Terms,
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
          waitMs = waitAskedFor(error)
          throw error
        },
      ),
    )
    if (outcome !== undefined || waitMs === undefined) return outcome
    await clock.pause(waitMs, until)
  }
  return undefined
}

/** In ms; undefined for every failure that is no rate limit. */
function waitAskedFor(error: unknown): number | undefined {
  const isLimited = error instanceof ProblemAnswer && error.status === 429
  return isLimited ? (error.retryAfterSeconds ?? 1) * 1000 : undefined
}
