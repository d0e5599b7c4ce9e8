import { canonicalize } from '../../shared/canonical-json.ts'
import type { PeerChange } from '../../shared/events/wire-types.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import { aboutNode, aboutPeer, OUTBOX_EVENTS, type Audience } from '../ports/outbox-events.ts'
import type { NumberedEvent, OutboxConsumer } from '../ports/outbox.ts'
import { moveAddressees } from './audience-store.ts'
import { createBridgeTelling } from './bridge-telling.ts'
import { addOwnHints, addPeerHints, closeLanes, countLanes, openLanes } from './lane-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import { createPolicyTelling } from './policy-telling.ts'
import type { Told } from './event-template.ts'

export interface EventRelayDeps {
  readonly ids: IdSource
  /** Called once what was taken is committed. */
  readonly onTaken: () => void
}

/** Name of the relay's cursor, whose row is also the lock of giving numbers to events. */
export const EVENT_RELAY = 'event-relay'

/** Rows of the outbox that one transaction takes at most. */
const BATCH_MAX = 500
/** Events that one transaction puts on their way at most, unless one outbox row makes more. */
const FAN_OUT_MAX = 5_000

/** Puts what the outbox says on its way to the nodes that it concerns. */
export function createEventRelay({ ids, onTaken }: EventRelayDeps): OutboxConsumer {
  return {
    name: EVENT_RELAY,
    batchMax: BATCH_MAX,
    onTaken,
    async handle({ db }, events) {
      const taken = await withinFanOut(db, events.map(heardOf))
      await openLanes(db, taken.flatMap(openingOf))
      await addPeerHints(db, taken.flatMap(peerHintOf))
      await addOwnHints(db, taken.flatMap(ownHintOf))
      await addOutgoing(db, { ids }, await tell(db, taken))
      await closeLanes(db, taken.flatMap(closingOf))
      return taken.length
    },
  }
}

/** An outbox event with its audience. */
interface Heard extends NumberedEvent {
  readonly audience: Audience
}

const KNOWN: ReadonlyMap<string, Audience> = new Map(
  Object.entries(OUTBOX_EVENTS).map(([literal, { audience }]) => [literal, audience]),
)

/** @throws Error where the literal is not known: a newer version of the server may be running already, and will know it. */
function heardOf(event: NumberedEvent): Heard {
  const audience = KNOWN.get(event.event)
  if (audience === undefined) throw new Error(`nothing says which nodes hear of ${event.event}`)
  return { ...event, audience }
}

/** The events that make few enough others, the first one in any case. */
async function withinFanOut(db: Db, events: readonly Heard[]): Promise<readonly Heard[]> {
  const wide = events.filter(({ audience: { to } }) => to === 'matched' || to === 'hosts')
  if (wide.length < 2) return events
  const lanes = await countLanes(db, [...new Set(wide.map(domainOf))])
  let left = FAN_OUT_MAX
  for (const [index, event] of events.entries()) {
    if (wide.includes(event)) left -= lanes.get(domainOf(event)) ?? 0
    if (left < 0 && index > 0) return events.slice(0, index)
  }
  return events
}

/** @throws ZodError where the event names no node. */
const nodeOf = (payload: unknown): string => aboutNode.parse(payload).node_id

/** The change as peers receive it, without other members of the payload. @throws ZodError where the event is not about a node. */
function peerChangeOf(change: PeerChange['changes'][number], payload: unknown): PeerChange {
  // An absent member is undefined here, and no JSON text contains it.
  return { ...aboutPeer.parse(payload), changes: [change] } as PeerChange
}

function domainOf({ domainId, event }: NumberedEvent): string {
  if (domainId === null) throw new Error(`${event} names no Domain`)
  return domainId
}

function openingOf(event: Heard) {
  if (event.event !== 'peer_registered') return []
  return [{ nodeId: nodeOf(event.payload), domainId: domainOf(event), seq: event.seq }]
}

function closingOf(event: Heard): string[] {
  return event.event === 'peer_deregistered' ? [nodeOf(event.payload)] : []
}

function peerHintOf(event: Heard) {
  const { audience, seq, payload } = event
  if (audience.to !== 'peers') return []
  return [{ seq, domainId: domainOf(event), peer: peerChangeOf(audience.change, payload) }]
}

function ownHintOf({ audience, seq, payload }: Heard) {
  return audience.to === 'own-block' ? [{ seq, nodeId: nodeOf(payload), block: audience.block }] : []
}

/** Everything that is told to some nodes and not merged, in the order of the outbox, and of one row by node id. */
async function tell(db: Db, events: readonly Heard[]): Promise<Told[]> {
  const policies = await createPolicyTelling(
    db,
    events.filter(({ audience }) => audience.to === 'matched'),
  )
  const bridges = await createBridgeTelling(
    db,
    events.filter(({ audience }) => audience.to === 'hosts'),
  )
  const told = events.flatMap((event) => {
    if (event.audience.to === 'matched') return policies(event, event.audience.change)
    if (event.audience.to === 'hosts') return bridges.tell(event)
    return event.audience.to === 'node' ? [ownEvent(event, event.audience.type)] : []
  })
  await moveAddressees(db, bridges)
  return told
}

/** The payload is that of the outbox row: what of it the node gets is decided when it is signed. */
function ownEvent({ seq, occurredAt, payload }: Heard, type: 'action_request' | 'session_setup'): Told {
  const template = { seq, occurredAt, type, before: canonicalize(payload), after: undefined }
  return { nodeId: nodeOf(payload), template }
}
