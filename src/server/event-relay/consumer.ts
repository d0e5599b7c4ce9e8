import { z } from 'zod'
import { canonicalize } from '../../shared/canonical-json.ts'
import type { PeerChange } from '../../shared/events/wire-types.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import {
  aboutGroup,
  aboutNode,
  aboutPeer,
  aboutSecret,
  aboutVisibility,
  formerPlace,
  type Audience,
  type OutboxDeclarations,
} from '../ports/outbox-events.ts'
import type { NumberedEvent, OutboxConsumer } from '../ports/outbox.ts'
import { readSecretHosts, updateAddressees } from './audience-store.ts'
import { createBridgeEvents } from './bridge-events.ts'
import {
  addOwnHints,
  addPeerHints,
  addVisibilityChanges,
  closeLanes,
  countLanes,
  openLanes,
  type DomainHint,
  type OwnHint,
} from './lane-store.ts'
import { addOutgoing } from './outgoing-store.ts'
import type { StoredGroupChange } from './peer-changes.ts'
import { createPolicyEvents } from './policy-events.ts'
import { addPendingOfDomain } from './viewers-store.ts'
import type { NodeEvent } from './event-template.ts'

export interface EventRelayDeps {
  readonly ids: IdSource
  /** Every event of the outbox. */
  readonly declarations: OutboxDeclarations
  /** Called after a batch of outbox rows was processed and committed. */
  readonly onTaken: () => void
}

/** Name of the relay's cursor. Its row is also the lock that serializes the numbering of events. */
export const EVENT_RELAY = 'event-relay'

/** Maximum number of outbox rows per transaction. */
const BATCH_MAX = 500
/** Maximum number of events that one transaction enqueues, unless a single outbox row makes more. */
const FAN_OUT_MAX = 5_000

/** Makes the consumer that turns outbox rows into events and hints for the nodes that they concern. */
export function createEventRelay({ ids, declarations, onTaken }: EventRelayDeps): OutboxConsumer {
  const audiences = new Map(Object.entries(declarations).map(([literal, { audience }]) => [literal, audience]))
  return {
    name: EVENT_RELAY,
    batchMax: BATCH_MAX,
    onTaken,
    async handle({ db }, events) {
      const taken = await withinFanOut(
        db,
        events.map((event) => withAudience(event, audiences)),
      )
      await openLanes(db, taken.flatMap(openingOf))
      await addPeerHints(db, taken.flatMap(peerHintOf))
      await addOwnHints(db, [...taken.flatMap(ownHintOf), ...(await secretHintsOf(db, taken))])
      await addVisibilityChanges(db, taken.flatMap(visibilityChangeOf))
      for (const [domainId, seq] of resyncsOf(taken)) await addPendingOfDomain(db, domainId, seq)
      await addOutgoing(db, { ids }, await nodeEventsOf(db, taken))
      await closeLanes(db, taken.flatMap(closingOf))
      return taken.length
    },
  }
}

/** An outbox event with the nodes that receive it. */
interface AddressedEvent extends NumberedEvent {
  readonly audience: Audience
}

/** @throws Error for an unknown literal. A newer version of the server wrote it, and processes it when it leads. */
function withAudience(event: NumberedEvent, audiences: ReadonlyMap<string, Audience>): AddressedEvent {
  const audience = audiences.get(event.event)
  if (audience === undefined) throw new Error(`the outbox event ${event.event} has no audience`)
  return { ...event, audience }
}

/** What many nodes of a Domain may receive at once. */
const WIDE: ReadonlySet<Audience['to']> = new Set(['matched', 'hosts', 'secret-hosts'])

/** The first events that together stay within the fan-out limit, at least one. */
async function withinFanOut(db: Db, events: readonly AddressedEvent[]): Promise<readonly AddressedEvent[]> {
  const wide = events.filter(({ audience: { to } }) => WIDE.has(to))
  if (wide.length < 2) return events
  const lanes = await countLanes(db, [...new Set(wide.map(domainOf))])
  let left = FAN_OUT_MAX
  for (const [index, event] of events.entries()) {
    if (wide.includes(event)) left -= lanes.get(domainOf(event)) ?? 0
    if (left < 0 && index > 0) return events.slice(0, index)
  }
  return events
}

/** @throws ZodError if the event names no node. */
const nodeOf = (payload: unknown): string => aboutNode.parse(payload).node_id

/** The change as peers receive it, without other members of the payload. @throws ZodError if the event names no node. */
function peerChangeOf(change: PeerChange['changes'][number], payload: unknown): PeerChange {
  // A peer that is gone has no facts.
  if (change === 'deregistered') return { ...aboutNode.parse(payload), changes: [change] }
  // Absent members are undefined here, so JSON.stringify omits them.
  return { ...aboutPeer.parse(payload), changes: [change] } as PeerChange
}

/** @throws ZodError if the event names no group. */
function groupChangeOf(payload: unknown): StoredGroupChange {
  const { group, added, removed } = aboutGroup.parse(payload)
  return added === undefined || removed === undefined ? { group } : { group, added, removed }
}

const withFormer = z.object({ former: formerPlace.optional() })

function domainOf({ domainId, event }: NumberedEvent): string {
  if (domainId === null) throw new Error(`${event} names no Domain`)
  return domainId
}

function openingOf(event: AddressedEvent) {
  if (event.event !== 'peer_registered') return []
  return [{ nodeId: nodeOf(event.payload), domainId: domainOf(event), seq: event.seq }]
}

function closingOf(event: AddressedEvent): string[] {
  return event.event === 'peer_deregistered' ? [nodeOf(event.payload)] : []
}

function peerHintOf(event: AddressedEvent): DomainHint[] {
  const { audience, seq, payload } = event
  if (audience.to === 'group') return [{ seq, domainId: domainOf(event), change: groupChangeOf(payload) }]
  if (audience.to !== 'peers') return []
  const change = peerChangeOf(audience.change, payload)
  return [{ seq, domainId: domainOf(event), change, former: withFormer.parse(payload).former }]
}

function ownHintOf({ audience, seq, payload }: AddressedEvent) {
  return audience.to === 'own-block' ? [{ seq, nodeId: nodeOf(payload), block: audience.block }] : []
}

/** Hints for the hosts of bridges that take the newest version of a secret. */
async function secretHintsOf(db: Db, events: readonly AddressedEvent[]): Promise<OwnHint[]> {
  const written = events.filter(({ audience }) => audience.to === 'secret-hosts')
  const secrets = written.map(({ seq, payload }) => ({ seq, ...aboutSecret.parse(payload) }))
  return (await readSecretHosts(db, secrets)).map((host) => ({ ...host, block: 'bridge' }))
}

function visibilityChangeOf(event: AddressedEvent) {
  const { audience, seq, payload } = event
  if (audience.to !== 'viewers') return []
  return [{ seq, domainId: domainOf(event), revision: aboutVisibility.parse(payload).revision }]
}

/** The Domains of which every node is to pull, each with the last outbox row that asks for it. */
function resyncsOf(events: readonly AddressedEvent[]): ReadonlyMap<string, bigint> {
  const wide = events.filter(({ audience }) => audience.to === 'domain')
  return new Map(wide.map((event) => [domainOf(event), event.seq]))
}

/** The events that are sent as they are, without merging: in outbox order, the events of one row ordered by node id. */
async function nodeEventsOf(db: Db, events: readonly AddressedEvent[]): Promise<NodeEvent[]> {
  const policies = await createPolicyEvents(
    db,
    events.filter(({ audience }) => audience.to === 'matched'),
  )
  const bridges = await createBridgeEvents(
    db,
    events.filter(({ audience }) => audience.to === 'hosts'),
  )
  const nodeEvents = events.flatMap((event) => {
    if (event.audience.to === 'matched') return policies(event)
    if (event.audience.to === 'hosts') return bridges.eventsOf(event)
    return event.audience.to === 'node' ? [ownEvent(event, event.audience.type)] : []
  })
  await updateAddressees(db, bridges)
  return nodeEvents
}

/** Takes the payload of the outbox row. Signing reduces it to the members that the node receives. */
function ownEvent({ seq, occurredAt, payload }: AddressedEvent, type: 'action_request' | 'session_setup'): NodeEvent {
  const template = { seq, occurredAt, type, before: canonicalize(payload), after: undefined }
  return { nodeId: nodeOf(payload), template }
}
