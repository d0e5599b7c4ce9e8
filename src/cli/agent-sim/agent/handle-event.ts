import type { Place } from '../../../shared/events/order.ts'
import { isEvent, type KnownEvent } from '../../../shared/events/payloads.ts'
import type { ReceivedEnvelope } from '../../../shared/events/signed-envelope.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { carryOut } from './execution.ts'
import { rotateSoon } from './key-rotation.ts'
import { applyChanges } from './peer-changes.ts'
import { openSession } from './session.ts'
import { pullSoon } from './state-pull.ts'

/** An agent pulls within so many ms when a hint concerns it alone. */
const OWN_WITHIN_MS = 500
/** A hint that concerns everybody is answered by so many agents a second. */
const ALL_PER_SECOND = 200

/** Acts upon a genuine event of the node: the other half of the agent's life, beside what it does by the clock. */
export function hear(deps: MeshAgentDeps, node: SimulatedNode, heard: Heard): void {
  const { envelope, place } = heard
  if (isEvent(envelope, 'node_state_updated')) return takeHint(deps, node, { event: envelope, place })
  if (isEvent(envelope, 'action_request')) return carryOut(deps, node, envelope.payload)
  if (isEvent(envelope, 'session_setup')) return openSession(deps, node, envelope.payload)
  // These two carry all that they are about; any other type means that something may have changed.
  if (isEvent(envelope, 'policy_updated') || isEvent(envelope, 'bridge_config_updated')) return undefined
  return pullSoon(deps, node, OWN_WITHIN_MS)
}

export interface Heard {
  readonly envelope: ReceivedEnvelope
  readonly place: Place
}

interface Hint {
  readonly event: KnownEvent<'node_state_updated'>
  readonly place: Place
}

function takeHint(deps: MeshAgentDeps, node: SimulatedNode, { event, place }: Hint): void {
  const { reason, blocks, peers } = event.payload
  if (blocks.includes('keys')) rotateSoon(deps, node)
  // A hint out of order would set facts back, and after a gap there are facts that were not told.
  const isInOrder = place.kind === 'next' || place.kind === 'first'
  if (reason === 'resync' || !isInOrder) return pullSoon(deps, node, spreadMs(deps))
  const isEnough = applyChanges(deps, node, peers)
  const isOwn = blocks.some((block) => block !== 'peers' && block !== 'keys')
  if (!isEnough || isOwn) pullSoon(deps, node, OWN_WITHIN_MS)
  return undefined
}

/** Over how many ms the agents of a fleet spread what all of them were asked for. */
function spreadMs({ mesh }: MeshAgentDeps): number {
  return Math.max(OWN_WITHIN_MS, (mesh.book.size() / ALL_PER_SECOND) * 1000)
}
