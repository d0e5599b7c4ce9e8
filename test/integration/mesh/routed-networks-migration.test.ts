import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate, MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { dropEverything } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0039-routed-networks'),
)
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
const idOf = (kind: string, number: number): string =>
  `01935b5e-8f3a-7c6${kind}-9d0a-${String(number).padStart(12, '0')}`

describe.each(STORES)('The migration of routed networks on the $name store', (store) => {
  describe.skipIf(store.missing)('of a store with bridges', () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')

    /** A Domain with a bridge that leads to these subnets. */
    async function domainWith(number: number, subnets: readonly string[]): Promise<void> {
      const [domain, project, bridge] = ['1', '2', '3'].map((kind) => idOf(kind, number))
      await sql`
        insert into domains (id, slug, display_name, mesh_cidr, endpoint_ttl_seconds, trusted_networks, strong_acr, created_at, updated_at)
        values (${domain}, ${`d${number}`}, 'D', '100.64.0.0/10', 300, '[]', '[]', now(), now())`.execute(db())
      await sql`
        insert into projects (id, domain_id, slug, display_name, created_at, updated_at)
        values (${project}, ${domain}, 'web', 'Web', now(), now())`.execute(db())
      await sql`
        insert into resources (id, domain_id, project_id, kind, slug, display_name, created_at, updated_at)
        values (${bridge}, ${domain}, ${project}, 'bridge', 'edge', 'Edge', now(), now())`.execute(db())
      if (subnets.length > 0)
        await sql`
          insert into bridge_tunnels (
            resource_id, slug, kind, remote_host, remote_port, auth_secret_ref, allowed_subnets, routing_policy, created_at, updated_at
          ) values (
            ${bridge}, 'hq', 'wireguard', 'vpn.example.org', 51820, 'secret:d/p/hq', ${[...subnets]}, 'bidirectional', now(), now()
          )`.execute(db())
    }

    beforeEach(async () => {
      await dropEverything(inUse.current())
      await migrate(inUse.current(), before)
      await domainWith(1, [])
      await domainWith(2, ['10.20.0.0/16', 'fd00:7::/64'])
      await domainWith(3, ['203.0.113.0/24', '10.20.0.0/16', '172.0.0.0/8', '2001:db8::/48'])
      await domainWith(
        4,
        Array.from({ length: 61 }, (_, index) => `203.0.113.${index * 4}/30`),
      )
    })

    test('lets every Domain reach the private networks, and what its bridges lead to by now', async () => {
      await migrate(inUse.current())
      const rows = await db().selectFrom('domains').select('routed_networks').orderBy('id').execute()
      expect(rows.map(({ routed_networks: networks }) => networks)).toEqual([
        PRIVATE,
        PRIVATE,
        [...PRIVATE, '172.0.0.0/8', '2001:db8::/48', '203.0.113.0/24'],
        ['0.0.0.0/0', '::/0'],
      ])
    })
  })
})
