import type { PeerChange } from '../../../shared/events/wire-types.ts'
import type { PeerFacts } from '../peer-book.ts'
import type { PeerView } from '../peer-view.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { fetchEdgeKeySoon } from './edge-key.ts'
import { digestSoon } from './epoch-report.ts'

/**
 * Applies what a hint says of peers, without asking the server. False where that is not enough: too little is said of a
 * peer that was not known.
 */
export function applyChanges(deps: MeshAgentDeps, node: SimulatedNode, changes: readonly PeerChange[]): boolean {
  // An agent that has never pulled has nothing to apply a change to; the server asks it to pull some time.
  if (node.view === undefined) return true
  let isEnough = true
  for (const change of changes) {
    if (node.pulling.state === 'running' || node.pulling.state === 'again') node.pulling.told.add(change.node_id)
    isEnough = apply(deps, node, { change, view: node.view }) && isEnough
  }
  return isEnough
}

interface Applied {
  readonly change: PeerChange
  readonly view: PeerView
}

function apply(deps: MeshAgentDeps, node: SimulatedNode, { change, view }: Applied): boolean {
  const known = view.find(change.node_id)
  if (change.changes.at(-1) === 'deregistered') {
    view.set(change.node_id, undefined)
    node.edges?.delete(change.node_id)
    if (known !== undefined) digestSoon(deps, node)
    return true
  }
  const facts = merged(known, change)
  if (facts === undefined) return false
  view.set(change.node_id, facts)
  if (facts.psk_issued_at === known?.psk_issued_at) return true
  digestSoon(deps, node)
  if (deps.mesh.neighbours(node.place).includes(change.node_id)) fetchEdgeKeySoon(deps, node, change.node_id)
  return true
}

/** Undefined where something is missing. A key that is older than the known one was told late: the pull was sooner. */
function merged(known: PeerFacts | undefined, change: PeerChange): PeerFacts | undefined {
  const { node_id, public_key, mesh_address, endpoint, psk_issued_at } = { ...UNSAID, ...known, ...change }
  if (public_key === undefined || mesh_address === undefined || psk_issued_at === undefined) return undefined
  const isOlder = known !== undefined && known.psk_issued_at > psk_issued_at
  const key = isOlder ? known : { public_key, psk_issued_at }
  return { node_id, public_key: key.public_key, mesh_address, endpoint, psk_issued_at: key.psk_issued_at }
}

/** A peer of whom nothing was said has no endpoint. */
const UNSAID = { public_key: undefined, mesh_address: undefined, endpoint: '', psk_issued_at: undefined }
