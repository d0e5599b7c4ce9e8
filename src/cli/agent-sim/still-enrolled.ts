import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import type { ApiClient } from '../../client/agent/agent-deps.ts'
import { runConcurrently } from './run-concurrently.ts'
import { createPacer } from '../../client/agent/calls/pacer.ts'
import { isRefusedKey } from '../../client/agent/calls/refused-key.ts'
import type { NodeIdentity } from './state-directory.ts'

/** The default rate limit of registrations, so resuming a fleet takes no longer than enrolling it. */
const CHECKS_PER_SECOND = 500

interface EnrolmentCheck {
  readonly client: Pick<ApiClient, 'GetNodeReachability'>
  readonly clock: AgentClock
  /** Maximum number of concurrent calls. */
  readonly concurrency: number
  /** No call starts after it is aborted. */
  readonly until: AbortSignal
}

/**
 * Returns the nodes except those whose secret key the server refuses. A node stays in the list after any other failure, which
 * the run then meets and counts, and when the signal ended the check.
 */
export async function stillEnrolled(
  kept: readonly NodeIdentity[],
  { client, clock, ...limits }: EnrolmentCheck,
): Promise<readonly NodeIdentity[]> {
  const pace = createPacer(clock, CHECKS_PER_SECOND)
  const gone = new Set<NodeIdentity>()
  await runConcurrently(kept, limits, async (node) => {
    await pace(limits.until)
    if (!limits.until.aborted && (await isGone(client, node))) gone.add(node)
  })
  return kept.filter((node) => !gone.has(node))
}

async function isGone(client: EnrolmentCheck['client'], { node_id: id, nsk }: NodeIdentity): Promise<boolean> {
  try {
    await client.GetNodeReachability({ id }, { token: nsk })
    return false
  } catch (error) {
    if (error instanceof ProblemAnswer) return isRefusedKey(error.code)
    if (error instanceof TransportFailure) return false
    throw error
  }
}
