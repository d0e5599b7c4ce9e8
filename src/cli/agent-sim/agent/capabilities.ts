import { createHash } from 'node:crypto'
import { sendCapabilities, type Capabilities } from '../../../client/agent/reports/capabilities.ts'
import { sha256 } from '../binary.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { SimulatedDeps } from './agent-deps.ts'

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
  await sendCapabilities(deps, node, () => capabilitiesOf(node))
}

function capabilitiesOf({ identity, binary, alteredHook: altered, place }: SimulatedNode): Capabilities {
  const host = createHash('sha256').update(identity.node_id).digest('base64').slice(0, 43)
  return {
    binary_version: binary.version,
    binary_checksum: binary.checksum,
    ssh_host_key_fingerprint: `SHA256:${host}`,
    architecture: binary.architecture,
    hooks: HOOKS.map((own) =>
      own.name === altered ? { name: own.name, checksum: alteredHook(own.name, place) } : own,
    ),
  }
}
