import { createEndpointSweeper } from '../../../src/server/slices/node-observations/endpoint-sweeper.ts'
import type { Answer } from '../server/control-plane.ts'
import { startFleet, type Enrolled, type Fleet } from './fleet.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'

type Reporter = Pick<Enrolled, 'node_id' | 'nsk'>

/** A fleet whose nodes report, with words to report and to look. */
export interface ObservedFleet extends Fleet {
  /** Reports an endpoint observed now, unless the members say otherwise. */
  endpoint(node: Reporter, endpoint: string, members?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Reports where a node sees peers now, by their ids, unless the members say otherwise. */
  sees(
    observer: Reporter,
    endpoints: Readonly<Record<string, string>>,
    members?: Readonly<Record<string, unknown>>,
  ): Promise<Answer>
  /** Sends bytes as they are. */
  send(nsk: string, operation: string, text: string): Promise<Answer>
  /** Says how long endpoints of the Domain hold, in seconds. */
  holdFor(domainId: string, seconds: number): Promise<void>
  /** One pass of the sweeper of endpoints; true where there is more to do. */
  sweep(): Promise<boolean>
  /** What the outbox says of endpoints, oldest first, each with its node. */
  endpointNews(): Promise<
    { readonly domain_id: string | null; readonly aggregate: string; readonly payload: unknown }[]
  >
  /** How often what the Domain's nodes see of each other has changed. */
  revision(domainId: string): Promise<number>
  storedEndpoint(nodeId: string): Promise<Readonly<Record<string, unknown>> | undefined>
  /** An instant so many ms from now, as a node sends it. */
  instant(ms: number): string
}

export async function startObservedFleet(store: TestStore): Promise<ObservedFleet> {
  const fleet = await startFleet(store, { surfaces: ['nodeObservations'] })
  const instant = (ms: number): string => new Date(fleet.clock.nowMs + ms).toISOString()
  return {
    ...fleet,
    instant,
    endpoint: (node, endpoint, members = {}) =>
      fleet.call(node.nsk, `PUT /v1/nodes/${node.node_id}/endpoint`, {
        endpoint,
        nat_type: 'cone',
        reported_at: instant(0),
        ...members,
      }),
    sees: (observer, endpoints, members = {}) =>
      fleet.call(observer.nsk, `PUT /v1/nodes/${observer.node_id}/observed-endpoints`, {
        observed: Object.entries(endpoints).map(([peer_node_id, endpoint]) => ({ peer_node_id, endpoint })),
        reported_at: instant(0),
        ...members,
      }),
    async send(nsk, operation, text) {
      const [method = '', path = ''] = operation.split(' ')
      const headers = { authorization: `Bearer ${nsk}`, 'content-type': 'application/json' }
      const response = await fetch(`${fleet.url}${path}`, { method, headers, body: text })
      const answer = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: answer === '' ? {} : JSON.parse(answer),
      }
    },
    async holdFor(domainId, seconds) {
      const patch = { endpoint_ttl: seconds }
      const answer = await fleet.call(fleet.root, `PATCH /v1/domains/${domainId}`, patch)
      if (answer.status !== 200) throw new Error(`not patched: ${JSON.stringify(answer.body)}`)
    },
    sweep: () => createEndpointSweeper(fleet).run(unfenced(fleet)),
    endpointNews: () =>
      fleet.db
        .selectFrom('outbox')
        .select(['domain_id', 'aggregate', 'payload'])
        .where('event', '=', 'peer_endpoint_changed')
        .orderBy('id')
        .execute(),
    async revision(domainId) {
      const row = await fleet.db
        .selectFrom('domain_peers')
        .select('revision')
        .where('domain_id', '=', domainId)
        .executeTakeFirst()
      return Number(row?.revision ?? 0)
    },
    storedEndpoint: (nodeId) =>
      fleet.db.selectFrom('node_endpoints').selectAll().where('node_id', '=', nodeId).executeTakeFirst(),
  }
}
