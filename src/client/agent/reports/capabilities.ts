import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import { sendReport } from '../calls/deferred-reports.ts'
import type { Member } from '../member.ts'

/** What a node runs: its binary, host key, architecture and hooks. */
export type Capabilities = Parameters<AgentDeps['client']['PutNodeCapabilities']>[0]['body']

/** Reports the capabilities that the node has when the report is sent: a limit may defer it. */
export async function sendCapabilities(deps: AgentDeps, node: Member, capabilities: () => Capabilities): Promise<void> {
  const send = () =>
    attempt(deps, node, {
      operation: 'capabilities',
      isRepeatable: true,
      isDeferred: true,
      call: (token) => deps.client.PutNodeCapabilities({ id: node.identity.node_id, body: capabilities() }, { token }),
    })
  await sendReport(deps, node, { name: 'capabilities', send })
}
