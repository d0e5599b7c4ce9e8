import type { Place } from '../../../shared/events/order.ts'
import { isEvent } from '../../../shared/events/payloads.ts'
import type { PeerChange } from '../../../shared/events/wire-types.ts'
import { declineExecution } from './decline-execution.ts'
import type { LightEvent } from './light-event.ts'
import type { LightNode } from './light-node.ts'
import { pullLightlySoon, type LightDeps } from './light-pull.ts'

/** Maximum random delay of a pull after a hint for one node. */
const OWN_WITHIN_MS = 500
/** Pulls per second of a whole Domain after a hint for all of its nodes. */
const ALL_PER_SECOND = 200

/** Handles an event as a full agent does, but keeps nothing of what it brings: counts hints, pulls where that is needed, declines executions. */
export function handleLightEvent(deps: LightDeps, node: LightNode, { event, place }: Received): void {
  const { envelope, isResync } = event
  // The tag of the last pull names a state without what the event brings.
  node.etag = undefined
  if (isEvent(envelope, 'action_request')) return deps.tasks.track(declineExecution(deps, node, envelope.payload))
  if (isResync || !isInOrder(place)) return pullLightlySoon(deps, node, spreadMs(node))
  if (!isEvent(envelope, 'node_state_updated')) return undefined
  const { blocks, peers } = envelope.payload
  if (peers.length > 0) countHint(deps, node, peers)
  const isOwn = blocks.some((block) => block !== 'peers' && block !== 'keys')
  return isOwn ? pullLightlySoon(deps, node, OWN_WITHIN_MS) : undefined
}

interface Received {
  readonly event: LightEvent
  readonly place: Place
}

function isInOrder({ kind }: Place): boolean {
  return kind === 'next' || kind === 'first'
}

/** Counts a hint and its changes: those of several peers, and successive ones of one endpoint, may be merged into it. */
function countHint({ statistics }: LightDeps, { domain, member }: LightNode, peers: readonly PeerChange[]): void {
  const nowMs = performance.now()
  let changes = 0
  for (const { node_id: nodeId, endpoint } of peers) {
    const received = endpoint === undefined ? 0 : domain.ledger.receive(member, { nodeId, endpoint }, nowMs)
    changes += Math.max(1, received)
  }
  statistics.count('hints')
  statistics.count('hinted_changes', changes)
  if (changes > 1) statistics.count('merged_hints')
}

/** Time over which the agents of a Domain spread their pulls, in ms. */
function spreadMs({ domain }: LightNode): number {
  return Math.max(OWN_WITHIN_MS, (domain.members.length / ALL_PER_SECOND) * 1000)
}
