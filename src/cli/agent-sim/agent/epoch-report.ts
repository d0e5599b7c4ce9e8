import { EDGE_EPOCHS_KEY } from '../../../shared/mesh/epoch-digest.ts'
import { attempt } from '../attempt.ts'
import type { Outcome } from '../outcome.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { sendReport } from './deferred-reports.ts'

/** Changes within this time are reported together, with a random additional delay. */
const SETTLED_MS = 2_000
const JITTER_MS = 1_000

/** Schedules a report of the node's epoch digest. */
export function digestSoon(deps: MeshAgentDeps, node: SimulatedNode): void {
  if (node.isDigestDue) return
  node.isDigestDue = true
  deps.tasks.schedule(SETTLED_MS + deps.clock.random() * JITTER_MS, () =>
    deps.mesh.limiters.digests(deps.until, () => {
      node.isDigestDue = false
      return reportDigest(deps, node)
    }),
  )
}

async function reportDigest(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  await sendReport(deps, node, { name: EDGE_EPOCHS_KEY, send: () => putDigest(deps, node) })
}

async function putDigest(deps: MeshAgentDeps, node: SimulatedNode): Promise<Outcome<unknown>> {
  const { node_id: id, psk_issued_at: own } = node.identity
  if (node.view === undefined || own === undefined) return NOTHING_NEW
  const { count, sha256 } = deps.mesh.digest(node.view, own)
  if (sha256 === node.lastDigest) return NOTHING_NEW
  const outcome = await attempt(deps, node, {
    operation: 'report',
    isRepeatable: true,
    isDeferred: true,
    call: (token) =>
      deps.client.PutNodeStateReport({ id, key: EDGE_EPOCHS_KEY, body: { value: { count, sha256 } } }, { token }),
  })
  if (outcome.ok) node.lastDigest = sha256
  return outcome
}

const NOTHING_NEW: Outcome<unknown> = { ok: true, value: undefined, tries: 0 }
