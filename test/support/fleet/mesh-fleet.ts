import { sql } from 'kysely'
import { createRelayChoice } from '../../../src/server/slices/mesh/relay-choice.ts'
import { peersChanged } from '../../../src/server/sql/state-revisions.ts'
import { startFleet, type Fleet } from './fleet.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'
import { relayRow } from './relay-row.ts'

/** A fleet with the surface `mesh`, and words for what other slices store: relays, endpoints, reachability, reports. */
export interface MeshFleet extends Fleet {
  /** Makes a bridge resource with these hosts and an enabled relay; gives its id. */
  relay(domainId: string, hostIds: readonly string[]): Promise<string>
  /** Switches a relay. */
  enable(resourceId: string, isEnabled: boolean): Promise<void>
  /** Stores an endpoint; stale where the node has lost it. */
  endpoint(nodeId: string, is?: 'fresh' | 'stale'): Promise<void>
  /** Marks nodes as announced in that state. */
  announced(nodeIds: readonly string[], state: string): Promise<void>
  /** A Domain that went away after the gate: only its place under the platform is left. */
  lostDomain(): Promise<string>
  /** Runs one pass of the relay choice. */
  choose(): Promise<boolean>
  /** Registers nodes without ceremony: rows as a registration leaves them. Gives their ids in order. */
  many(domainId: string, count: number): Promise<string[]>
}

export async function startMeshFleet(store: TestStore): Promise<MeshFleet> {
  const fleet = await startFleet(store, { surfaces: ['mesh'] })
  const { db, call, root, ids, clock } = fleet
  const projects = new Map<string, string>()

  async function projectOf(domainId: string): Promise<string> {
    const project = projects.get(domainId) ?? (await fleet.project(domainId))
    projects.set(domainId, project)
    return project
  }

  return {
    ...fleet,
    async relay(domainId, hostIds) {
      const body = { kind: 'bridge', slug: `b-${ids.next()}`, display_name: 'Bridge', host_node_ids: hostIds }
      const answer = await call(root, `POST /v1/projects/${await projectOf(domainId)}/resources`, body)
      if (answer.status !== 201) throw new Error(`no bridge: ${JSON.stringify(answer.body)}`)
      const id = String(answer.body['id'])
      await db.insertInto('bridge_relays').values(relayRow(id, domainId)).execute()
      return id
    },
    async enable(resourceId, isEnabled) {
      await db.updateTable('bridge_relays').set({ enabled: isEnabled }).where('resource_id', '=', resourceId).execute()
    },
    async endpoint(nodeId, is = 'fresh') {
      await sql`
        insert into node_endpoints (node_id, domain_id, last_endpoint, last_endpoint_port, nat_type,
          last_endpoint_reported_at, last_endpoint_stale_at)
        select id, domain_id, '203.0.113.7', 51820, 'cone', ${new Date(clock.nowMs)}::timestamptz,
          ${is === 'stale' ? new Date(clock.nowMs) : null}::timestamptz
        from nodes where id = ${nodeId}
        on conflict (node_id) do update set last_endpoint_stale_at = excluded.last_endpoint_stale_at`.execute(db)
    },
    async announced(nodeIds, state) {
      await sql`update node_heartbeats set announced_state = ${state} where node_id = any(${nodeIds}::uuid[])`.execute(
        db,
      )
    },
    async lostDomain() {
      const id = ids.next()
      const edge = { subject: 'platform:main', relation: 'platform', resource: `domain:${id}` }
      await fleet.change(({ tuples }) => tuples.createStructural(edge, { domainId: id, projectId: null }))
      return id
    },
    choose: () => createRelayChoice(fleet).run(unfenced(fleet)),
    async many(domainId, count) {
      const nodeIds = Array.from({ length: count }, () => ids.next())
      const at = new Date(clock.nowMs)
      const { there } = await db
        .selectFrom('nodes')
        .select((on) => on.fn.countAll<string>().as('there'))
        .where('domain_id', '=', domainId)
        .executeTakeFirstOrThrow()
      await sql`
        insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels,
          ephemeral, created_at, updated_at)
        select id, ${domainId}::uuid, 'n-' || at, 'worker', decode(replace(id::text || id::text, '-', ''), 'hex'),
          ('100.64.' || (at / 256) || '.' || (at % 256))::inet, decode('00', 'hex'),
          1772352000000000000 + at * 1000003, '{}', false, ${at}::timestamptz, ${at}::timestamptz
        from (
          select id, at + ${there}::int as at from unnest(${nodeIds}::uuid[]) with ordinality as listed (id, at)
        ) as placed`.execute(db)
      await sql`
        insert into node_heartbeats (node_id, created_at)
        select id, ${at}::timestamptz from unnest(${nodeIds}::uuid[]) as listed (id)`.execute(db)
      await fleet.datastore.transaction('worker', (tx) => peersChanged(tx, domainId, nodeIds))
      return nodeIds
    },
  }
}
