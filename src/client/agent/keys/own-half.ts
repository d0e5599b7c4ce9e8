import type { MemberDeps } from '../agent-deps.ts'
import type { Member } from '../member.ts'
import { digestSoon } from './epoch-report.ts'
import type { MeshKey } from './mesh-key.ts'

/** Time for the peers to take the new public key, before the node uses it (decisions: Rotation). It passes while the pair is stored. */
const PEERS_FIRST_MS = 1_000

/** A pair that the server has taken. */
export interface TakenKey {
  readonly key: MeshKey
  /** The node's half of the epochs since then; undefined if the server did not give it. */
  readonly issued: string | undefined
}

/** Makes a pair the node's own, stores it, and has the device take it. Does nothing the second time. */
export async function adoptMeshKey<M extends Member>(
  { actions, clock, until }: MemberDeps<M>,
  node: M,
  { key, issued }: TakenKey,
): Promise<void> {
  const isNew = node.identity.private_key !== key.privateKey
  node.identity = {
    ...node.identity,
    private_key: key.privateKey,
    ...(issued !== undefined && { psk_issued_at: issued }),
  }
  if (node.nextKey?.privateKey === key.privateKey) forgetNextKey(node)
  // The peers receive the key from now on, however long the write to disk takes. A crash until then finds the pair as the next one.
  const peersFirst = isNew ? clock.pause(PEERS_FIRST_MS, until) : undefined
  await actions.save(node)
  if (!isNew) return
  await peersFirst
  await actions.ownKeyChanged(node)
}

/** Forgets the next pair. The caller stores that. */
export function forgetNextKey(node: Member): void {
  node.nextKey = undefined
  node.isNextInDoubt = false
}

/**
 * Takes the node's own half of an epoch that the server has sealed for the node. A newer one is the node's own from now on. It
 * decides about a pair in doubt. Returns whether that pair became the own one, so that every edge has a new key.
 *
 * A pair whose rotation is still repeated is not in doubt: the answer decides, because the half may be that of the pair before.
 */
export function learnOwnHalf<M extends Member>(deps: MemberDeps<M>, node: M, own: string): boolean {
  const known = node.identity.psk_issued_at ?? ''
  if (own > known || !node.isNextInDoubt) return learnNewerHalf(deps, node, own)
  if (own < known) deps.statistics.count('undone_rotations')
  forgetNextKey(node)
  deps.tasks.track(deps.actions.save(node))
  return false
}

/** As `learnOwnHalf`, of a half that may be from before the rotation, as in an answer from the server's cache: only a newer one decides. */
export function learnNewerHalf<M extends Member>(deps: MemberDeps<M>, node: M, own: string): boolean {
  const { nextKey: key, isNextInDoubt, identity } = node
  const isNewer = identity.psk_issued_at === undefined || own > identity.psk_issued_at
  if (!isNewer || (key !== undefined && !isNextInDoubt)) return false
  digestSoon(deps, node)
  if (key !== undefined) {
    deps.tasks.track(adoptMeshKey(deps, node, { key, issued: own }))
    return true
  }
  node.identity = { ...node.identity, psk_issued_at: own }
  deps.tasks.track(deps.actions.save(node))
  return false
}
