import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { AgentClock, ApiClient } from './fleet-deps.ts'
import { inLanes } from './lanes.ts'
import { createPacer } from './pacer.ts'
import { isRefusedKey } from './refused-key.ts'
import type { NodeIdentity } from './state-directory.ts'

/** What the registrations of one token may come to, so that a fleet is taken over no slower than it was enrolled. */
const ASK_PER_SECOND = 500

interface Asking {
  readonly client: Pick<ApiClient, 'GetNodeReachability'>
  readonly clock: AgentClock
  /** Questions under way at once. */
  readonly concurrency: number
  /** Asks no further once aborted. */
  readonly until: AbortSignal
}

/**
 * The nodes whose secret key the server takes. Every other failure leaves a node in: what it means is found out, and
 * counted, when the node lives. So does the signal, since nothing is known then.
 */
export async function stillEnrolled(
  kept: readonly NodeIdentity[],
  { client, clock, ...limits }: Asking,
): Promise<readonly NodeIdentity[]> {
  const pace = createPacer(clock, ASK_PER_SECOND)
  const gone = new Set<NodeIdentity>()
  await inLanes(kept, limits, async (node) => {
    await pace(limits.until)
    if (!limits.until.aborted && (await isGone(client, node))) gone.add(node)
  })
  return kept.filter((node) => !gone.has(node))
}

async function isGone(client: Asking['client'], { node_id: id, nsk }: NodeIdentity): Promise<boolean> {
  try {
    await client.GetNodeReachability({ id }, { token: nsk })
    return false
  } catch (error) {
    if (error instanceof ProblemAnswer) return isRefusedKey(error.code)
    if (error instanceof TransportFailure) return false
    throw error
  }
}
