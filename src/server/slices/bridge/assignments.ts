import { z } from 'zod'
import { announceBridge, storeConfigs } from '../../bridges/update-config.ts'
import type { Clock } from '../../ports/clock.ts'
import { aboutNode, changedNodeLabels } from '../../ports/outbox-events.ts'
import type { NumberedEvent, OutboxConsumer } from '../../ports/outbox.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announceRelays, MARKED_MAX } from '../../sql/announce-relays.ts'
import { readHops } from '../../sql/relay-hops.ts'
import { holdPeers, peersChanged, peersChangedWhole } from '../../sql/state-revisions.ts'
import {
  areOutdated,
  carryingAmong,
  domainOfProject,
  isRelayLabel,
  lockRelayBridges,
  preferringDomains,
  storePreferences,
  type ChangedPreference,
  type Concerned,
} from './preferences-store.ts'

/** Events of one transaction, at most. */
const BATCH_MAX = 200

/**
 * Makes the consumer that keeps which bridge each node prefers by its effective label `platform/relay`: nodes that are
 * registered, deregistered or moved, and labels that are put, removed or inherited. The configurations of the bridges
 * concerned follow, once per change, and the peers of the nodes get the new relay.
 */
export function createAssignments({ clock }: { readonly clock: Clock }): OutboxConsumer {
  return {
    name: 'bridge-relays',
    batchMax: BATCH_MAX,
    async handle(change, events) {
      const read = events.map(concernOf)
      const wide = read.findIndex((concern) => concern?.kind === 'wide')
      const [first] = read
      const at = new Date(clock.now())
      if (wide === 0 && first?.kind === 'wide') {
        await takeWide(change, first, at)
        return 1
      }
      const taken = wide === -1 ? read : read.slice(0, wide)
      await takeNodes(
        change,
        taken.flatMap((concern) => (concern?.kind === 'node' ? [concern] : [])),
        at,
      )
      return taken.length
    },
  }
}

/** One node whose label may have changed. The Definition is null where it may be any. */
interface NodeConcern {
  readonly kind: 'node'
  readonly nodeId: string
  readonly domainId: string
  readonly definitionId: string | null
  /** Whether it was registered: its peers do not know its relay yet. */
  readonly isNew: boolean
}

/** Many nodes: those of a Project or a Domain, or of all Domains. */
interface WideConcern {
  readonly kind: 'wide'
  readonly scope: 'platform' | 'domain' | 'project'
  readonly id: string
  readonly definitionId: string | null
}

/** What an event concerns, if anything. @throws ZodError, Error where it names no object. */
function concernOf(event: NumberedEvent): NodeConcern | WideConcern | undefined {
  if (event.event === 'node_labels_changed') return concernOfLabels(event)
  if (event.event !== 'peer_registered' && event.event !== 'peer_deregistered') return undefined
  return nodeConcern(event, aboutNode.parse(event.payload).node_id, null)
}

function concernOfLabels(event: NumberedEvent): NodeConcern | WideConcern {
  const { definition_id: definitionId, scope } = changedNodeLabels.parse(event.payload)
  const [kind, id = ''] = scope.split(':')
  if (kind === 'node') return nodeConcern(event, z.uuid().parse(id), definitionId)
  if (kind === 'platform') return { kind: 'wide', scope: kind, id, definitionId }
  if (kind === 'domain' || kind === 'project')
    return { kind: 'wide', scope: kind, id: z.uuid().parse(id), definitionId }
  throw new Error(`${scope} names no object that nodes have labels of`)
}

function nodeConcern({ event, domainId }: NumberedEvent, nodeId: string, definitionId: string | null): NodeConcern {
  if (domainId === null) throw new Error(`${event} names no Domain`)
  return { kind: 'node', nodeId, domainId, definitionId, isNew: event === 'peer_registered' }
}

async function takeWide(change: Change, { scope, id, definitionId }: WideConcern, at: Date): Promise<void> {
  const { db } = change
  if (definitionId !== null && !(await isRelayLabel(db, definitionId))) return
  if (scope === 'domain') return follow(change, { domainId: id, concerned: { domainId: id }, at })
  if (scope === 'project') {
    const domainId = await domainOfProject(db, id)
    if (domainId !== undefined) await follow(change, { domainId, concerned: { projectId: id }, at })
    return
  }
  for (const domainId of await preferringDomains(db)) await follow(change, { domainId, concerned: { domainId }, at })
}

async function takeNodes(change: Change, concerns: readonly NodeConcern[], at: Date): Promise<void> {
  const isOfRelay = new Map<string | null, boolean>([[null, true]])
  for (const id of new Set(concerns.map(({ definitionId }) => definitionId)))
    if (id !== null) isOfRelay.set(id, await isRelayLabel(change.db, id))
  const named = concerns.filter(({ definitionId }) => isOfRelay.get(definitionId) === true)
  // In the order of their ids, as all do that lock several.
  for (const domainId of [...new Set(named.map((concern) => concern.domainId))].toSorted()) {
    const ofDomain = named.filter((concern) => concern.domainId === domainId)
    const nodeIds = [...new Set(ofDomain.map(({ nodeId }) => nodeId))]
    await follow(change, { domainId, concerned: { nodeIds }, at })
    await announceNew(
      change,
      domainId,
      ofDomain.filter(({ isNew }) => isNew).map(({ nodeId }) => nodeId),
    )
  }
}

/** A registration announces the node without its relay, so that it reads nothing of the Domain. */
async function announceNew(change: Change, domainId: string, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length === 0 || (await readHops(change.db, domainId)).length === 0) return
  await announceRelays(change, domainId, nodeIds)
}

interface Following {
  readonly domainId: string
  readonly concerned: Concerned
  readonly at: Date
}

async function follow(change: Change, { domainId, concerned, at }: Following): Promise<void> {
  const { db } = change
  // Most nodes that are registered prefer no bridge: the next registrations need not wait for this one's consumer.
  if ('nodeIds' in concerned && !(await areOutdated(db, domainId, concerned))) return
  await holdPeers(db, domainId)
  const changed = await storePreferences(db, domainId, concerned)
  if (changed.length === 0) return
  await announceChanged(change, domainId, changed)
  const bridgeIds = new Set(changed.flatMap(({ former, present }) => [former ?? [], present ?? []].flat()))
  await updateConfigs(change, { domainId, bridgeIds: [...bridgeIds], at })
}

/** What the peers of the nodes see of them changes, and to where they are relayed, if one of the bridges carries edges. */
async function announceChanged(change: Change, domainId: string, changed: readonly ChangedPreference[]): Promise<void> {
  const present = changed.filter(({ isThere }) => isThere)
  if (present.length === 0) return
  const nodeIds = present.map(({ nodeId }) => nodeId)
  if (nodeIds.length > MARKED_MAX) await peersChangedWhole(change.db, domainId)
  else await peersChanged(change.db, domainId, nodeIds)
  const named = new Set(present.flatMap((each) => [each.former ?? [], each.present ?? []].flat()))
  const carrying = await carryingAmong(change.db, [...named])
  const isRelayed = (id: string | null): boolean => id !== null && carrying.has(id)
  const relayed = present.filter((each) => isRelayed(each.former) || isRelayed(each.present))
  await announceRelays(
    change,
    domainId,
    relayed.map(({ nodeId }) => nodeId),
  )
}

async function updateConfigs(
  change: Change,
  { domainId, bridgeIds, at }: { readonly domainId: string; readonly bridgeIds: readonly string[]; readonly at: Date },
): Promise<void> {
  const locked = await lockRelayBridges(change.db, domainId, bridgeIds)
  const bridges = locked.map((resourceId) => ({ resourceId, domainId }))
  for (const bridge of await storeConfigs(change, bridges, at))
    announceBridge(change, bridge, { literal: 'bridge.RelayConfigured', part: 'relay' })
}
