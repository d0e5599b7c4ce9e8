import { releaseChecksum } from '../../../client/agent/releases/release-checksum.ts'
import { sha256, type Binary } from '../binary.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { reportCapabilities } from './capabilities.ts'
import { reportAlteredBinary } from './integrity.ts'

/** What becomes of an upgrade: the binary that runs afterwards, or why it failed. */
export type Upgrade = { readonly binary: Binary } | { readonly failure: string }

/** The version that an execution asks for; undefined where it is no upgrade to a version. */
export function wantedVersion({ action, parameters }: PulledExecution): string | undefined {
  const version = parameters?.['version']
  return action === 'upgrade_agent' && typeof version === 'string' ? version : undefined
}

/**
 * Reads the release, as the node, and judges it as an agent does. An execution always has the same outcome: `upgradeFailures` of
 * them fail, and `wrongChecksums` lead to a binary that is not that of the release.
 */
export async function tryUpgrade(
  deps: MeshAgentDeps,
  node: SimulatedNode,
  execution: PulledExecution & { readonly version: string },
): Promise<Upgrade> {
  const { version, execution_id: id, parameters } = execution
  deps.mesh.wanted.asked(version)
  const asked = parameters?.['checksum']
  const { architecture } = node.binary
  const found = await releaseChecksum(deps, node, {
    version,
    architecture,
    // A value that is no text is no checksum of a release.
    asked: asked === undefined || typeof asked === 'string' ? asked : JSON.stringify(asked),
  })
  if ('failure' in found) return found
  const { checksum } = found
  const { upgradeFailures, wrongChecksums } = deps.mesh.habits
  const draw = Number.parseInt(id.slice(-8), 16) / 2 ** 32
  if (draw < upgradeFailures) return { failure: `${version} did not start in the simulation` }
  const isLie = draw < upgradeFailures + wrongChecksums
  const reported = isLie ? sha256(`altered ${version}`) : checksum
  return { binary: { version, checksum: reported, expected_checksum: checksum, architecture } }
}

/** Runs the binary from now on, as an agent that has restarted. */
export async function install(deps: MeshAgentDeps, node: SimulatedNode, binary: Binary): Promise<void> {
  node.binary = binary
  await reportCapabilities(deps, node)
  await reportAlteredBinary(deps, node)
}
