import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createGoneTargets } from '../../../src/server/slices/bridge/gone-targets.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'
import { relayWorld } from '../events/relay-world.ts'
import { payloadIn } from '../../../src/shared/events/envelope.ts'
import { arrangeBridges, bridgeSurface, type Bridges, type BridgeUnderTest } from './bridge-fleet.ts'
import type { Enrolled } from './fleet.ts'
import { startStatefulFleet, type StatefulFleet } from './node-states.ts'

/** A fleet with bridges whose hosts receive events and pull their state. */
export interface HostingFleet extends StatefulFleet, Bridges {
  /** Runs what follows the outbox until it has nothing to do. */
  settle(): Promise<void>
  /** The texts of the configurations in the node's events about the bridge since the last call, oldest first. */
  received(node: Enrolled, bridge: BridgeUnderTest): readonly string[]
  /** The text of the configuration in the node's snapshot; undefined where the bridge is not in it. */
  pulled(node: Enrolled, bridge: BridgeUnderTest): Promise<string | undefined>
  /** The revision of the node's own state. */
  revisionOf(node: Enrolled): Promise<number>
}

export async function startHostingFleet(store: TestStore): Promise<HostingFleet> {
  const acme = { check: async () => undefined }
  const fleet = await startStatefulFleet(store, undefined, (backend) => ({ surfaces: [bridgeSurface(backend, acme)] }))
  const fail = (): never => {
    throw new Error('nobody leads')
  }
  const leading = unfenced(fleet)
  const world = relayWorld({ parts: { ...fleet, takeTerm: fail, lead: fail }, leading })
  const onPoison = (_: string, __: unknown, error: unknown): never => {
    throw error
  }
  const targets = createConsumption({ ...fleet, consumer: createGoneTargets(fleet), onPoison })
  const seen = new Map<string, number>()

  return {
    ...fleet,
    ...(await arrangeBridges(fleet)),
    async settle() {
      await world.relay()
      while (await targets.run(leading));
      await world.settle()
    },
    received(node, { id }) {
      const key = `${node.node_id} ${id}`
      const events = world.bus.stored.filter(
        ({ nodeId, type, wire }) =>
          nodeId === node.node_id && type === 'bridge_config_updated' && payloadIn(wire).includes(id),
      )
      const fresh = events.slice(seen.get(key) ?? 0).map(({ wire }) => configIn(payloadIn(wire)))
      seen.set(key, events.length)
      return fresh
    },
    async pulled(node, { id }) {
      const { text } = await fleet.pull(node.nsk, node.node_id)
      const start = `{"bridge_resource_id":"${id}","effective_config":`
      const at = text.indexOf(start)
      return at < 0 ? undefined : objectAt(text, at + start.length)
    },
    async revisionOf({ node_id }) {
      const row = fleet.db.selectFrom('node_heartbeats').select('node_revision').where('node_id', '=', node_id)
      return Number((await row.executeTakeFirstOrThrow()).node_revision)
    },
  }
}

/** The text of the configuration as an event has it. */
function configIn(payload: string): string {
  const name = '"effective_config":'
  return objectAt(payload, payload.indexOf(name) + name.length)
}

/** The text of the JSON object that begins at the place, whose strings contain no braces. */
function objectAt(text: string, from: number): string {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return text.slice(from, at + 1)
  }
  throw new Error('the object does not end')
}
