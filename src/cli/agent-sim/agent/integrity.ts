import { createHash } from 'node:crypto'
import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Reports a binary with a wrong checksum. Not repeated, because the server would store a second violation. */
export async function reportViolation(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const { client, clock } = deps
  const violation = {
    kind: 'binary' as const,
    artifact: '/usr/local/bin/agent-sim',
    expected_checksum: checksum('agent-sim'),
    observed_checksum: checksum(`altered ${node.place}`),
    detected_at: new Date(clock.now()).toISOString(),
  }
  await attempt(deps, node, {
    operation: 'violations',
    isRepeatable: false,
    call: (token) =>
      client.PostNodeIntegrityViolations({ id: node.identity.node_id, body: { violations: [violation] } }, { token }),
  })
}
