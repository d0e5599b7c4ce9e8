import { createHash } from 'node:crypto'
import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'
import { BINARY } from './heartbeat.ts'

const checksum = (name: string): string => createHash('sha256').update(name).digest('hex')

/** Hooks that executions can run in addition to the built-in actions. */
const HOOKS = ['simulated-backup', 'simulated-restart'].map((name) => ({ name, checksum: checksum(name) }))

/** Reports the node's binary, host key and hooks. */
export async function reportCapabilities(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const id = node.identity.node_id
  const host = createHash('sha256').update(id).digest('base64').slice(0, 43)
  const body = { ...BINARY, ssh_host_key_fingerprint: `SHA256:${host}`, hooks: HOOKS }
  await attempt(deps, node, {
    operation: 'capabilities',
    isRepeatable: true,
    call: (token) => deps.client.PutNodeCapabilities({ id, body }, { token }),
  })
}
