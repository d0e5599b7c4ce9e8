import type { SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { addIfNew } from '../../../client/agent/executions/recently-seen.ts'

type Activity = Parameters<MeshAgentDeps['client']['PostSessionActivity']>[0]['body']

/** The simulated activity of a session, by its kind. */
const ACTIVITIES: Readonly<Record<SessionSetupPayload['kind'], readonly Activity[]>> = {
  ssh: [{ ssh: { event: 'opened' } }, { ssh: { event: 'exec' } }, { ssh: { event: 'closed' } }],
  cluster_api: [
    { cluster_api: { verb: 'list', path: '/api/v1/pods' } },
    { cluster_api: { verb: 'get', path: '/api/v1/namespaces/default' } },
  ],
  tcp: [{ tcp: { bytes_in: 512, bytes_out: 0 } }, { tcp: { bytes_in: 512, bytes_out: 65_536 } }],
}
const BETWEEN_MS_MAX = 1_000
/** Refusals that mean that the session has ended: revoked or expired. */
const OVER = ['session_not_found', 'session_already_revoked']

/** Opens a session once and reports its activity. */
export function openSession(deps: MeshAgentDeps, node: SimulatedNode, session: SessionSetupPayload): void {
  if (addIfNew(node.seen, session.session_id)) deps.tasks.track(use(deps, node, session))
}

async function use(deps: MeshAgentDeps, node: SimulatedNode, session: SessionSetupPayload): Promise<void> {
  const { client, clock, statistics, until } = deps
  statistics.count('sessions')
  for (const body of ACTIVITIES[session.kind]) {
    await clock.pause(clock.random() * BETWEEN_MS_MAX, until)
    if (until.aborted) return
    const outcome = await attempt(deps, node, {
      operation: 'session',
      isRepeatable: true,
      toleratedCodes: OVER,
      call: (token) =>
        client.PostSessionActivity({ id: node.identity.node_id, session_id: session.session_id, body }, { token }),
    })
    if (outcome.ok) continue
    if (OVER.includes(outcome.code)) statistics.count('overtaken')
    return
  }
}
