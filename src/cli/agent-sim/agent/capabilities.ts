import { createHash } from 'node:crypto'
import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { Outcome } from '../../../client/agent/calls/outcome.ts'
import { sha256 } from '../binary.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { SimulatedDeps } from './agent-deps.ts'
import { sendReport } from '../../../client/agent/calls/deferred-reports.ts'

/** Hooks that executions can run in addition to the built-in actions. */
export const HOOKS = [hook('simulated-backup'), hook('simulated-restart')] as const

function hook(name: string) {
  return { name, checksum: sha256(name) }
}

/** The checksum of a hook that was altered on the node. */
export function alteredHook(name: string, place: number): string {
  return sha256(`altered ${name} ${place}`)
}

/** Reports the node's binary, host key and hooks. */
export async function reportCapabilities(deps: SimulatedDeps, node: SimulatedNode): Promise<void> {
  await sendReport(deps, node, { name: 'capabilities', send: () => putCapabilities(deps, node) })
}

function putCapabilities(deps: SimulatedDeps, node: SimulatedNode): Promise<Outcome<unknown>> {
  const id = node.identity.node_id
  const host = createHash('sha256').update(id).digest('base64').slice(0, 43)
  const { version: binary_version, checksum: binary_checksum, architecture } = node.binary
  const hooks = HOOKS.map(({ name, checksum }) =>
    name === node.alteredHook ? { name, checksum: alteredHook(name, node.place) } : { name, checksum },
  )
  const body = { binary_version, binary_checksum, ssh_host_key_fingerprint: `SHA256:${host}`, architecture, hooks }
  return attempt(deps, node, {
    operation: 'capabilities',
    isRepeatable: true,
    isDeferred: true,
    call: (token) => deps.client.PutNodeCapabilities({ id, body }, { token }),
  })
}
