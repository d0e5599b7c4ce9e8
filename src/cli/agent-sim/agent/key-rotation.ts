import { attempt } from '../attempt.ts'
import { generateMeshKey } from '../mesh-key.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { fetchEdgeKeysSoon } from './edge-key.ts'
import { digestSoon } from './epoch-report.ts'

/** A wave over a fleet is spread over so many ms. */
const WITHIN_MS = 2_000

/** Sets out to complete a key rotation of the node. A hint that comes meanwhile is about the same one. */
export function rotateSoon(deps: MeshAgentDeps, node: SimulatedNode): void {
  if (node.isRotating) return
  node.isRotating = true
  deps.errands.soon(deps.clock.random() * WITHIN_MS, async () => {
    if (!deps.until.aborted) await complete(deps, node)
    node.isRotating = false
  })
}

/** Sends a fresh public key. Made again after a broken connection, it is the same key that is sent. */
async function complete(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  const { client, statistics } = deps
  const key = generateMeshKey()
  const outcome = await attempt(deps, node, {
    operation: 'key_rotation',
    isRepeatable: true,
    passable: ['no_pending_rotation'],
    call: (token) => client.PostKeysRotate({ body: { public_key: key.publicKey } }, { token }),
  })
  if (outcome.ok) {
    statistics.count('key_rotations')
    node.identity = { ...node.identity, private_key: key.privateKey, psk_issued_at: outcome.value.psk_issued_at }
    digestSoon(deps, node)
  } else if (outcome.code === 'no_pending_rotation') {
    statistics.count('needless_rotations')
    // It may be the one whose answer was lost: the node's own half of any epoch tells.
    if (outcome.tries > 1) node.identity = { ...node.identity, private_key: key.privateKey }
  }
  fetchEdgeKeysSoon(deps, node)
}
