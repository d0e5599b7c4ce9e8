import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { assignmentsFit, fittingConfigOf } from '../../../src/server/bridges/effective-config.ts'
import { readAssignedNodes } from '../../../src/server/bridges/assigned-nodes.ts'
import { storeConfig } from '../../../src/server/bridges/update-config.ts'
import type { BridgeParts } from '../../../src/server/bridges/bridge-parts.ts'
import { STORES } from '../../support/datastores/stores.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startRelayedFleet, type RelayedFleet } from '../../support/fleet/relayed-fleet.ts'

const RELAY: BridgeParts = {
  relay: { enabled: true, listen_port: 1 },
  userAccess: [],
  peers: [],
  ingress: [],
  tunnels: [],
}
const idOf = (n: number): string => `01935b5e-8f3a-7c61-9d0a-${String(n).padStart(12, '0')}`

describe('The assignments of a configuration', () => {
  const surroundings = (count: number) => ({
    assignedNodeIds: Array.from({ length: count }, (_, n) => idOf(n)),
    targetIds: new Set<string>(),
  })
  it('are left out where they do not fit, so that the relay serves any node', () => {
    expect([assignmentsFit(RELAY, surroundings(9_000)), assignmentsFit(RELAY, surroundings(10_000))]).toEqual([
      true,
      false,
    ])
    expect(JSON.parse(fittingConfigOf(RELAY, surroundings(9_000)) ?? '')).toMatchObject({
      relay: { assignments: { length: 9_000 } },
    })
    expect(JSON.parse(fittingConfigOf(RELAY, surroundings(10_000)) ?? '')).toMatchObject({ relay: { assignments: [] } })
  })
})

describe.each(STORES)('Nodes that are assigned to relays on the $name store', (store) => {
  describe.skipIf(store.missing)('by label', () => {
    let fleet: RelayedFleet
    let domain: string
    let project: string
    let host: Enrolled
    let x: Enrolled
    let first: string
    let second: string
    beforeAll(async () => {
      fleet = await startRelayedFleet(store)
    }, 180_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      project = await fleet.project(domain)
      ;[host, x] = (await fleet.reachable(domain, 2)) as [Enrolled, Enrolled]
      first = await fleet.bridge(project, [host.node_id])
      second = await fleet.bridge(project, [host.node_id])
      for (const resourceId of [first, second])
        await fleet.change((change) => storeConfig(change, { resourceId, domainId: domain }, new Date(0)))
      await fleet.follow()
      await fleet.db.deleteFrom('outbox').execute()
    })
    afterAll(() => fleet?.stop())

    const assigned = async (resourceId: string) => {
      const { effective_config } = await fleet.db
        .selectFrom('bridge_configs')
        .select('effective_config')
        .where('resource_id', '=', resourceId)
        .executeTakeFirstOrThrow()
      const { relay } = JSON.parse(effective_config) as { relay: { assignments: { peer_node_id: string }[] } | null }
      return relay?.assignments.map(({ peer_node_id }) => peer_node_id)
    }
    /** The bridges of which another configuration was announced since the last call, each as often as it was. */
    const announced = async () => {
      await fleet.follow()
      const rows = await fleet.db
        .selectFrom('outbox')
        .select(['aggregate', 'payload'])
        .where('event', '=', 'bridge.RelayConfigured')
        .orderBy('id')
        .execute()
      await fleet.db.deleteFrom('outbox').execute()
      expect(rows.every(({ payload }) => (payload as { slug: string }).slug === '')).toBe(true)
      return rows.map(({ aggregate }) => aggregate.replace('resource:', '')).toSorted()
    }
    const revision = async () => {
      const row = await fleet.db
        .selectFrom('node_heartbeats')
        .select('node_revision')
        .where('node_id', '=', host.node_id)
        .executeTakeFirstOrThrow()
      return Number(row.node_revision)
    }

    it('are in the configuration of the bridge, which is announced once a change', async () => {
      const before = await revision()
      await fleet.prefer(`node/${x.node_id}`, first)
      expect(await announced()).toEqual([first])
      expect([await assigned(first), await assigned(second), await revision()]).toEqual([[x.node_id], [], before + 1])
      await fleet.prefer(`node/${x.node_id}`, first)
      expect(await announced()).toEqual([])
      await fleet.prefer(`node/${x.node_id}`, second)
      expect(await announced()).toEqual([first, second].toSorted())
      expect([await assigned(first), await assigned(second)]).toEqual([[], [x.node_id]])
      await fleet.unprefer(`node/${x.node_id}`)
      expect([await announced(), await assigned(second)]).toEqual([[second], []])
    })

    // The embedded store has one session: while a transaction is open there, nothing else is.
    it.skipIf(store.name === 'embedded')('let registrations of nodes that prefer none go on', async () => {
      await fleet.reachable(domain, 2)
      await fleet.db.transaction().execute(async (other) => {
        await sql`select from domain_peers where domain_id = ${domain} for update`.execute(other)
        expect(await announced()).toEqual([])
      })
    })

    it('follow registrations, moves and deregistrations, many of them at once in one change', async () => {
      await fleet.prefer(`project/${project}`, first)
      expect(await announced()).toEqual([])
      const inside: string[] = []
      for (let n = 0; n < 3; n++) inside.push((await fleet.enrol(domain, {}, { project_id: project })).node_id)
      expect([await announced(), await assigned(first)]).toEqual([[first], inside.toSorted()])
      await fleet.call(fleet.root, `PATCH /v1/nodes/${inside[0]}`, { project_id: null })
      expect([await announced(), await assigned(first)]).toEqual([[first], inside.slice(1).toSorted()])
      await fleet.call(fleet.root, `DELETE /v1/nodes/${inside[1]}`)
      expect([await announced(), await assigned(first)]).toEqual([[first], inside.slice(2)])
      await fleet.unprefer(`project/${project}`)
      expect([await announced(), await assigned(first)]).toEqual([[first], []])
    })

    it('follow the Definition, where labels are inherited no more', async () => {
      await fleet.prefer(`domain/${domain}`, first)
      expect([await announced(), (await assigned(first))?.length]).toEqual([[first], 2])
      const definition_id = '01900000-0000-7000-8000-000000000004'
      // Not through the API: it keeps the Definition as it is.
      const set = (inherit: boolean) =>
        fleet.change(async (change) => {
          await change.db.updateTable('label_definitions').set({ inherit }).where('id', '=', definition_id).execute()
          const scope = 'platform:main'
          const payload = { definition_id, scope }
          change.emit({ event: 'node_labels_changed', domainId: null, aggregate: scope, payload })
        })
      await set(false)
      expect([await announced(), await assigned(first)]).toEqual([[first], []])
      await set(true)
      expect([await announced(), (await assigned(first))?.length]).toEqual([[first], 2])
    })

    it('change nothing of a bridge without a relay, nor where the label is another one', async () => {
      await fleet.db.deleteFrom('bridge_relays').where('resource_id', '=', first).execute()
      await fleet.prefer(`node/${x.node_id}`, first)
      expect(await announced()).toEqual([])
      const label = { qualified_key: 'platform/env', value: 'prod' }
      expect((await fleet.call(fleet.root, `PUT /v1/objects/node/${x.node_id}/labels`, label)).status).toBe(200)
      expect(await announced()).toEqual([])
    })

    it('of a Domain with 10,000 nodes are one rebuild of the configuration, which serves any node then', async () => {
      for (let from = 1; from < 10_000; from += 1_000)
        await sql`
        insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels,
          ephemeral, created_at, updated_at)
        select ('01935b5e-8f3a-7c61-9d0b-' || lpad(at::text, 12, '0'))::uuid, ${domain}::uuid, 'many-' || at, 'worker',
          sha256(convert_to('many' || at || ${domain}, 'UTF8')), ('100.100.0.0'::inet + at), decode('00', 'hex'),
          1772352000000000000 + at, '{}', false, now(), now()
        from generate_series(${from}::int, ${from + 999}::int) as at`.execute(fleet.db)
      await sql`
        insert into node_heartbeats (node_id, created_at) select id, now() from nodes as node
        where domain_id = ${domain} and not exists (select from node_heartbeats where node_id = node.id)`.execute(
        fleet.db,
      )
      const whole = async () =>
        (
          await fleet.db
            .selectFrom('domain_peers')
            .select('revision')
            .where('domain_id', '=', domain)
            .executeTakeFirstOrThrow()
        ).revision
      const before = Number(await whole())
      await fleet.prefer(`node/${x.node_id}`, second)
      expect(await announced()).toEqual([second])
      await fleet.prefer(`domain/${domain}`, second)
      expect(await announced()).toEqual([second])
      expect([await assigned(second), Number(await whole())]).toEqual([[], before + 2])
      const started = performance.now()
      expect(await readAssignedNodes(fleet.db, second)).toHaveLength(10_002)
      expect(performance.now() - started).toBeLessThan(2_000)
    }, 120_000)
  })
})
