import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import { createRelayChoice } from '../../../src/server/slices/mesh/relay-choice.ts'
import { createAssignments } from '../../../src/server/slices/bridge/assignments.ts'
import type { LeaderParts } from '../datastores/leading.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'
import { relayWorld, type RelayWorld } from '../events/relay-world.ts'
import { startFleet, type Enrolled, type Fleet } from './fleet.ts'
import { relayRow } from './relay-row.ts'
import type { Answer } from '../server/control-plane.ts'

/** A fleet with bridges that nodes prefer by label, and the jobs that follow the labels. */
export interface RelayedFleet extends Fleet {
  /** Registers nodes, by id, which are in reach. */
  reachable(domainId: string, count: number): Promise<Enrolled[]>
  announced(nodeIds: readonly string[], state: string): Promise<void>
  /** Makes a bridge with an enabled relay; gives its id. */
  bridge(projectId: string, hostIds: readonly string[], port?: number): Promise<string>
  /** Puts the label `platform/relay` on an object, `<kind>/<id>`. */
  prefer(object: string, value: unknown, as?: string): Promise<Answer>
  unprefer(object: string): Promise<Answer>
  endpoint(node: Enrolled, endpoint: string): Promise<void>
  /** Runs the consumer of labels and the choice of relays until neither has anything to do. */
  follow(): Promise<void>
  /** `fallback_endpoint` of each peer as the node pulls it, by id; absent where there is none. */
  fallbacks(node: Enrolled): Promise<Readonly<Record<string, string | undefined>>>
  readonly events: RelayWorld
}

export async function startRelayedFleet(store: TestStore): Promise<RelayedFleet> {
  const surfaces = ['mesh', 'labels', 'nodeState', 'nodeObservations', 'meshKeys', 'bridge'] as const
  const fleet = await startFleet(store, { surfaces })
  const { db, call, root, datastore, ids, clock } = fleet
  const leading = unfenced(fleet)
  await fleet.runJob('label-definition-tuples')
  const fail = (_: string, __: unknown, error: unknown): never => {
    throw error
  }
  const consumption = createConsumption({ datastore, ids, consumer: createAssignments(fleet), onPoison: fail })
  const numbering = createNumbering({ datastore, onNumbered: () => undefined })
  // A fleet has what the stages of the relay use of these.
  const events = relayWorld({ parts: fleet as unknown as LeaderParts, leading })

  const announced: RelayedFleet['announced'] = async (nodeIds, state) => {
    await db
      .updateTable('node_heartbeats')
      .set({ announced_state: state as 'healthy' })
      .where('node_id', 'in', nodeIds)
      .execute()
  }

  return {
    ...fleet,
    events,
    announced,
    async reachable(domainId, count) {
      const enrolled: Enrolled[] = []
      for (let n = 0; n < count; n++) enrolled.push(await fleet.enrol(domainId))
      await announced(
        enrolled.map(({ node_id }) => node_id),
        'healthy',
      )
      return enrolled
    },
    async bridge(projectId, hostIds, port = 51_821) {
      const body = { kind: 'bridge', slug: `b-${ids.next()}`, display_name: 'Bridge', host_node_ids: hostIds }
      const made = await call(root, `POST /v1/projects/${projectId}/resources`, body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      const id = String(made.body['id'])
      await db
        .insertInto('bridge_relays')
        .values({ ...relayRow(id, String(made.body['domain_id'])), listen_port: port })
        .execute()
      return id
    },
    prefer: (object, value, as = root) =>
      call(as, `PUT /v1/objects/${object}/labels`, { qualified_key: 'platform/relay', value }),
    unprefer: (object) => call(root, `DELETE /v1/objects/${object}/labels?qualified_key=platform%2Frelay`),
    async endpoint(node, endpoint) {
      clock.nowMs += 1
      const body = { endpoint, nat_type: 'cone', reported_at: new Date(clock.nowMs).toISOString() }
      const answer = await call(node.nsk, `PUT /v1/nodes/${node.node_id}/endpoint`, body)
      if (answer.status !== 204 && answer.status !== 200) throw new Error(JSON.stringify(answer))
    },
    async follow() {
      while (await numbering.run(leading));
      while (await consumption.run(leading));
      while (await createRelayChoice(fleet).run(leading));
    },
    async fallbacks({ node_id, nsk }) {
      const { body } = await call(nsk, `GET /v1/nodes/${node_id}/state`)
      const peers = body['peers'] as readonly { readonly node_id: string; readonly fallback_endpoint?: string }[]
      return Object.fromEntries(peers.map((peer) => [peer.node_id, peer.fallback_endpoint]))
    },
  }
}
