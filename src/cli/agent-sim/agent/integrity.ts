import { reportViolation, type Finding } from '../../../client/agent/reports/violations.ts'
import { isAltered } from '../binary.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { alteredHook, HOOKS, reportCapabilities } from './capabilities.ts'

/** Maximum duration of a violation that begins at random. */
const LASTS_MS_MAX = 300_000

/** Alters a hook of the node for a while, and reports it. A node whose hook is altered already is left alone. */
export async function alterHook(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  if (node.alteredHook !== undefined) return
  const { clock } = deps
  const { name, checksum } = HOOKS[Math.floor(clock.random() * HOOKS.length)] ?? HOOKS[0]
  const endsMs = clock.now() + clock.random() * LASTS_MS_MAX
  node.alteredHook = name
  await reportCapabilities(deps, node)
  const violation = {
    kind: 'hook' as const,
    artifact: name,
    expected_checksum: checksum,
    observed_checksum: alteredHook(name, node.place),
  }
  await report(deps, node, { violation, lasts: () => clock.now() < endsMs })
  deps.wheel.after(endsMs - clock.now(), () => deps.tasks.track(restoreHook(deps, node)))
}

async function restoreHook(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  node.alteredHook = undefined
  if (!deps.until.aborted && !node.isRevoked) await reportCapabilities(deps, node)
}

/** Reports a binary that is not that of its version, while the node runs it; nothing where it is. */
export async function reportAlteredBinary(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  const { binary } = node
  if (!isAltered(binary)) return
  const violation = {
    kind: 'binary' as const,
    artifact: '/usr/local/bin/agent-sim',
    expected_checksum: binary.expected_checksum,
    observed_checksum: binary.checksum,
  }
  await report(deps, node, { violation, lasts: () => node.binary === binary })
}

/** Counts the reports that the server takes. */
function report(deps: MeshAgentDeps, node: SimulatedNode, finding: Omit<Finding, 'onTaken'>): Promise<void> {
  return reportViolation(deps, node, { ...finding, onTaken: () => deps.statistics.count('violations_reported') })
}
