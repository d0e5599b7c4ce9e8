import type { Db } from '../ports/datastore.ts'
import { aboutBridge } from '../ports/outbox-events.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import { readBridges, type BridgeAddressee, type Bridge } from './audience-store.ts'
import { bridgeTemplate, type NodeEvent } from './event-template.ts'

/** @throws ZodError where the event names no bridge resource. */
const bridgeOf = (payload: unknown): string => aboutBridge.parse(payload).bridge_resource_id

interface BridgeEvents {
  /** Makes the events of one outbox row, ordered by node id. Call it in the order of the outbox. */
  eventsOf(event: NumberedEvent): NodeEvent[]
  /** Nodes that receive a configuration in the events made so far. */
  readonly added: readonly BridgeAddressee[]
  /** Nodes that receive the end of a bridge in the events made so far. */
  readonly removed: readonly BridgeAddressee[]
}

/** Reads the bridges that the outbox rows name, and makes the events for their present and former hosts. */
export async function createBridgeEvents(db: Db, events: readonly NumberedEvent[]): Promise<BridgeEvents> {
  const bridges = await readBridges(db, [...new Set(events.map(({ payload }) => bridgeOf(payload)))])
  const added: BridgeAddressee[] = []
  const removed: BridgeAddressee[] = []
  const endSent = new Set<string>()

  /** One configuration event per host. Former hosts get the bridge's end, once per batch. */
  function eventsFor(event: NumberedEvent, resourceId: string, bridge: Bridge): NodeEvent[] {
    const hosts = bridge.config === undefined ? [] : bridge.hosts
    const former = endSent.has(resourceId) ? [] : bridge.addressees.filter((nodeId) => !hosts.includes(nodeId))
    endSent.add(resourceId)
    const present = bridgeTemplate(event, resourceId, bridge.config)
    const end = bridgeTemplate(event, resourceId)
    added.push(...hosts.map((nodeId) => ({ resourceId, nodeId })))
    removed.push(...former.map((nodeId) => ({ resourceId, nodeId })))
    const all = [
      ...hosts.map((nodeId) => ({ nodeId, template: present })),
      ...former.map((nodeId) => ({ nodeId, template: end })),
    ]
    return all.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
  }

  return {
    added,
    removed,
    eventsOf(event) {
      const resourceId = bridgeOf(event.payload)
      const bridge = bridges.get(resourceId)
      return bridge === undefined ? [] : eventsFor(event, resourceId, bridge)
    },
  }
}
