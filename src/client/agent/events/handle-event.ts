import type { Place } from '../../../shared/events/order.ts'
import type { GroupChange, PeerChange } from '../../../shared/events/wire-types.ts'
import { isEvent, type KnownEvent } from '../../../shared/events/payloads.ts'
import type { ReceivedEnvelope } from '../../../shared/events/signed-envelope.ts'
import type { Member } from '../member.ts'
import type { MemberDeps, MeshParts } from '../agent-deps.ts'
import { applyGroupChanges } from '../peers/group-changes.ts'
import { rotateSoon } from '../keys/key-rotation.ts'
import { applyBridgeUpdate, refreshSecrets } from '../bridges/bridge-changes.ts'
import { applyPolicyUpdate } from '../policies/policy-changes.ts'
import { applyChanges } from '../peers/peer-changes.ts'
import { pullSoon } from '../state/state-pull.ts'
import { takeExecution, takeSession } from '../state/tasks-of-node.ts'

/** Maximum random delay of a pull after a hint for one node. */
const OWN_WITHIN_MS = 500
/** Maximum random delay of a pull after a frame that was dropped. */
const DROPPED_WITHIN_MS = 5_000
/** Pulls per second of the whole fleet after a hint for all nodes. */
const ALL_PER_SECOND = 200

/** Handles a verified event of the node. */
export function handleEvent<M extends Member>(deps: MemberDeps<M>, node: M, received: ReceivedEvent): void {
  const { envelope, place } = received
  if (isEvent(envelope, 'node_state_updated')) return takeHint(deps, node, { event: envelope, place })
  // The tag names a state without what the event brings. Where that is taken back, the server would answer that nothing has changed.
  node.etag = undefined
  if (!takeContent(deps, node, received)) pullSoon(deps, node, OWN_WITHIN_MS)
}

/** Follows a frame that was dropped: something between the server and the agent is not as it should be. All nodes may get such a frame. */
export function handleDropped<M extends Member>(deps: MemberDeps<M>, node: M): void {
  pullSoon(deps, node, DROPPED_WITHIN_MS)
}

/** Takes an event that brings what it is about. Returns false if a pull is needed: something was missed, or must be refused. */
function takeContent<M extends Member>(deps: MemberDeps<M>, node: M, { envelope, place }: ReceivedEvent): boolean {
  const isNext = isInOrder(place)
  if (isEvent(envelope, 'action_request')) {
    takeExecution(deps, node, envelope.payload)
    return isNext
  }
  if (isEvent(envelope, 'session_setup')) {
    takeSession(deps, node, envelope.payload)
    return isNext
  }
  // A whole policy or configuration that came out of order could restore an older revision.
  if (isEvent(envelope, 'policy_updated')) return isNext && applyPolicyUpdate(deps, node, envelope.payload)
  if (isEvent(envelope, 'bridge_config_updated')) return isNext && applyBridgeUpdate(deps, node, envelope.payload)
  // An unknown type may mean any change.
  return false
}

/** A verified event with its place in the order of the node's events. */
export interface ReceivedEvent {
  readonly envelope: ReceivedEnvelope
  readonly place: Place
}

interface Hint {
  readonly event: KnownEvent<'node_state_updated'>
  readonly place: Place
}

function isInOrder({ kind }: Place): boolean {
  return kind === 'next' || kind === 'first'
}

function takeHint<M extends Member>(deps: MemberDeps<M>, node: M, { event, place }: Hint): void {
  const { reason, blocks, peers, groups = [] } = event.payload
  if (blocks.includes('keys')) rotateSoon(deps, node)
  // A reordered hint could overwrite newer facts, and a gap means that changes are missing.
  const isWhole = reason !== 'resync' && isInOrder(place)
  if (!isWhole || blocks.includes('bridge')) refreshSecrets(deps, node)
  if (!isWhole) return pullSoon(deps, node, spreadMs(deps))
  const isEnough = applyPeerHint(deps, node, { peers, groups })
  const isOwn = blocks.some((block) => block !== 'peers' && block !== 'keys')
  if (!isEnough || isOwn) pullSoon(deps, node, OWN_WITHIN_MS)
  return undefined
}

/** Applies changes of peers and groups; false if a pull is needed. */
function applyPeerHint<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { peers, groups }: { readonly peers: readonly PeerChange[]; readonly groups: readonly GroupChange[] },
): boolean {
  const isEnough = applyChanges(deps, node, peers)
  applyGroupChanges(node, groups)
  if (node.view === undefined || peers.length + groups.length === 0) return isEnough
  // As with the other events: the tag names a state without these changes.
  node.etag = undefined
  deps.actions.peersChanged(node)
  return isEnough
}

/** Time over which the agents of a fleet spread their pulls, in ms. */
function spreadMs({ mesh }: { readonly mesh: MeshParts }): number {
  return Math.max(OWN_WITHIN_MS, (mesh.book.size() / ALL_PER_SECOND) * 1000)
}
