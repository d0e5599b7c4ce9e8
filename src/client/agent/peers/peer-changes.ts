import type { PeerChange } from '../../../shared/events/wire-types.ts'
import type { PeerFacts } from './peer-book.ts'
import type { PeerView } from './peer-view.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { fetchEdgeKeySoon, forgetEdge } from '../keys/edge-key.ts'
import { digestSoon } from '../keys/epoch-report.ts'
import { isPulling } from '../state/is-pulling.ts'

const NO_GROUPS: readonly number[] = []
const NO_TEXTS: readonly string[] = []

/**
 * Applies the peer changes of a hint. Returns false if a pull is needed, because a change of an unknown peer is
 * incomplete.
 */
export function applyChanges<M extends Member>(deps: MemberDeps<M>, node: M, changes: readonly PeerChange[]): boolean {
  if (isPulling(node)) for (const change of changes) note(node, change)
  // Without a first pull there is nothing to change. The server will request the pull.
  if (node.view === undefined) return true
  let isComplete = true
  for (const change of changes) isComplete = apply(deps, node, { change, view: node.view }) && isComplete
  return isComplete
}

/** Notes a change that the answer to an open pull may lack. */
function note({ pulling }: Member, change: PeerChange): void {
  pulling.changedPeers.add(change.node_id)
  if (isRemoval(change)) pulling.removedPeers.add(change.node_id)
  else pulling.removedPeers.delete(change.node_id)
}

function isRemoval({ changes }: PeerChange): boolean {
  return changes.at(-1) === 'deregistered'
}

interface Applied {
  readonly change: PeerChange
  readonly view: PeerView
}

function apply<M extends Member>(deps: MemberDeps<M>, node: M, { change, view }: Applied): boolean {
  const known = view.find(change.node_id)
  if (isRemoval(change)) {
    view.set(change.node_id, undefined)
    forgetEdge(node, change.node_id)
    if (known !== undefined) digestSoon(deps, node)
    return true
  }
  const facts = merged(known, change)
  if (facts === undefined) return false
  view.set(change.node_id, facts)
  if (facts.psk_issued_at === known?.psk_issued_at) return true
  digestSoon(deps, node)
  if (deps.actions.edgesOf(node).includes(change.node_id)) fetchEdgeKeySoon(deps, node, change.node_id)
  return true
}

/**
 * The merged facts; undefined if a member is missing. Keeps the known key if it is newer: the hint arrived after a
 * newer pull.
 */
function merged(known: PeerFacts | undefined, change: PeerChange): PeerFacts | undefined {
  const { public_key, mesh_address, psk_issued_at, ...rest } = {
    ...UNKNOWN,
    ...keptOf(known, change),
    ...factsOf(change),
  }
  if (public_key === undefined || mesh_address === undefined || psk_issued_at === undefined) return undefined
  const isOlder = known !== undefined && known.psk_issued_at > psk_issued_at
  const key = isOlder ? known : { public_key, psk_issued_at }
  return { ...rest, public_key: key.public_key, mesh_address, psk_issued_at: key.psk_issued_at }
}

/** The known facts that a change leaves as they are. One of the endpoint without a relay takes the relay away. */
function keptOf(known: PeerFacts | undefined, { changes }: PeerChange): Partial<PeerFacts> {
  if (known === undefined || !changes.includes('endpoint_changed')) return known ?? {}
  const { fallback_endpoint: _former, ...kept } = known
  return kept
}

/** The facts that a change carries. Older servers give no names. An endpoint without candidates has none. */
function factsOf(change: PeerChange & { readonly name?: string }): Partial<PeerFacts> & Pick<PeerFacts, 'node_id'> {
  const {
    node_id,
    name,
    public_key,
    mesh_address,
    endpoint,
    fallback_endpoint,
    psk_issued_at,
    groups,
    candidates = NO_TEXTS,
    subnets,
  } = change
  return {
    node_id,
    ...(name !== undefined && { name }),
    ...(public_key !== undefined && { public_key }),
    ...(mesh_address !== undefined && { mesh_address }),
    ...(endpoint !== undefined && { endpoint, candidates }),
    ...(fallback_endpoint !== undefined && { fallback_endpoint }),
    ...(psk_issued_at !== undefined && { psk_issued_at }),
    ...(groups !== undefined && { groups }),
    ...(subnets !== undefined && { subnets }),
  }
}

/** The facts of an unknown peer. It has no endpoint, is in no group and leads to no other network. */
const UNKNOWN = {
  name: '',
  public_key: undefined,
  mesh_address: undefined,
  endpoint: '',
  psk_issued_at: undefined,
  groups: NO_GROUPS,
  candidates: NO_TEXTS,
  subnets: NO_TEXTS,
}
