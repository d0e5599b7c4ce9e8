import { attempt } from '../../../client/agent/calls/attempt.ts'
import { isAltered } from '../binary.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { alteredHook, HOOKS, reportCapabilities } from './capabilities.ts'

/** Agents repeat a violation while it lasts, at most once a minute (agent protocol). */
const REPEAT_MS = 60_000
/** Maximum duration of a violation that begins at random. */
const LASTS_MS_MAX = 300_000

type Violation = Omit<
  Parameters<MeshAgentDeps['client']['PostNodeIntegrityViolations']>[0]['body']['violations'][number],
  'detected_at'
>

/** A violation and how long it lasts. */
interface Finding {
  readonly violation: Violation
  readonly lasts: () => boolean
}

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

/** Reports at once, and again every minute while it lasts. */
async function report(deps: MeshAgentDeps, node: SimulatedNode, finding: Finding): Promise<void> {
  const { client, clock, wheel, tasks, until, statistics } = deps
  const detected_at = new Date(clock.now()).toISOString()
  const outcome = await attempt(deps, node, {
    operation: 'violations',
    isRepeatable: true,
    call: (token) =>
      client.PostNodeIntegrityViolations(
        { id: node.identity.node_id, body: { violations: [{ ...finding.violation, detected_at }] } },
        { token },
      ),
  })
  if (outcome.ok) statistics.count('violations_reported')
  wheel.after(REPEAT_MS, () => {
    if (!until.aborted && !node.isRevoked && finding.lasts()) tasks.track(report(deps, node, finding))
  })
}
