import { attempt } from '../calls/attempt.ts'
import { generateMeshKey } from './mesh-key.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { fetchEdgeKeysSoon } from './edge-key.ts'
import { digestSoon } from './epoch-report.ts'

/** Maximum random delay, which spreads the rotations of a fleet. */
const WITHIN_MS = 2_000

/** Schedules the node's part of a key rotation. Ignores hints while one is running, because they mean the same rotation. */
export function rotateSoon<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.isRotating) return
  node.isRotating = true
  deps.tasks.schedule(deps.clock.random() * WITHIN_MS, async () => {
    if (!deps.until.aborted) await complete(deps, node)
    node.isRotating = false
  })
}

/** Sends a new public key. Repeated tries send the same key. */
async function complete<M extends Member>(deps: MemberDeps<M>, node: M): Promise<void> {
  const { client, statistics } = deps
  const key = generateMeshKey()
  const outcome = await attempt(deps, node, {
    operation: 'key_rotation',
    isRepeatable: true,
    toleratedCodes: ['no_pending_rotation'],
    call: (token) => client.PostKeysRotate({ body: { public_key: key.publicKey } }, { token }),
  })
  if (outcome.ok) {
    statistics.count('key_rotations')
    node.identity = { ...node.identity, private_key: key.privateKey, psk_issued_at: outcome.value.psk_issued_at }
    digestSoon(deps, node)
  } else if (outcome.code === 'no_pending_rotation') {
    statistics.count('needless_rotations')
    // An earlier try may have succeeded without an answer. The node then learns its own half from the next epoch.
    if (outcome.tries > 1) node.identity = { ...node.identity, private_key: key.privateKey }
  }
  fetchEdgeKeysSoon(deps, node)
}
