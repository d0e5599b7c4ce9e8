import type { Db } from '../ports/datastore.ts'
import { aboutBridge } from '../ports/outbox-events.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import { readBridges, type Addressees, type Bridge } from './audience-store.ts'
import { bridgeTemplate, type Told } from './event-template.ts'

/** @throws ZodError where the event names no bridge resource. */
const bridgeOf = (payload: unknown): string => aboutBridge.parse(payload).bridge_resource_id

/** What is said of bridges, and who was told of which once everything is said. */
interface BridgeTelling {
  tell(event: NumberedEvent): Told[]
  readonly told: readonly Addressees[]
  readonly ended: readonly Addressees[]
}

/** Reads what is to be said of bridges, and says it for one event after another. */
export async function createBridgeTelling(db: Db, events: readonly NumberedEvent[]): Promise<BridgeTelling> {
  const bridges = await readBridges(db, [...new Set(events.map(({ payload }) => bridgeOf(payload)))])
  const told: Addressees[] = []
  const ended: Addressees[] = []
  const over = new Set<string>()

  /** One event per host, and the bridge's end, once, for those that were. */
  function tellOf(event: NumberedEvent, resourceId: string, bridge: Bridge): Told[] {
    const hosts = bridge.config === undefined ? [] : bridge.hosts
    const former = over.has(resourceId) ? [] : bridge.addressees.filter((nodeId) => !hosts.includes(nodeId))
    over.add(resourceId)
    const present = bridgeTemplate(event, resourceId, bridge.config)
    const end = bridgeTemplate(event, resourceId)
    told.push(...hosts.map((nodeId) => ({ resourceId, nodeId })))
    ended.push(...former.map((nodeId) => ({ resourceId, nodeId })))
    const all = [
      ...hosts.map((nodeId) => ({ nodeId, template: present })),
      ...former.map((nodeId) => ({ nodeId, template: end })),
    ]
    return all.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
  }

  return {
    told,
    ended,
    tell(event) {
      const resourceId = bridgeOf(event.payload)
      const bridge = bridges.get(resourceId)
      return bridge === undefined ? [] : tellOf(event, resourceId, bridge)
    },
  }
}
