import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBridgeStatus } from '../../../src/server/slices/bridge/status.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { bridge } from '../../../src/shared/contract/bridge.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { stateRows } from '../../support/fleet/node-states.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const { GetBridgeStatus } = bridge.operations
const digest = (text: string) => createHash('sha256').update(text).digest('base64')
const AT = '2026-03-01T07:59:00Z'

describe.each(STORES)('The status of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let projectId: string
    let observer: string
    let deployer: string
    let resourceId: string
    let hosts: string[]

    beforeAll(async () => {
      tenancy = await startTenancy(store, ({ datastore }) => ({
        surfaces: [
          {
            name: 'bridge',
            operations: { GetBridgeStatus },
            handlers: { GetBridgeStatus: createBridgeStatus({ datastore }).GetBridgeStatus },
          },
        ],
      }))
      domainId = await tenancy.domain('acme')
      projectId = await tenancy.project(domainId, 'edge')
      deployer = await tenancy.holder(domainId, 'deployer', `project:${projectId}`)
      await secret('hq-key', [1, 3])
    })
    beforeEach(async () => {
      hosts = [await tenancy.node({ domainId }), await tenancy.node({ domainId })].toSorted()
      resourceId = await resource('bridge', hosts)
      observer = await tenancy.holder(domainId, 'viewer', `resource:${resourceId}`)
    })
    afterAll(() => tenancy.stop())

    let slugs = 0
    async function resource(kind: string, host_node_ids: readonly string[]): Promise<string> {
      slugs += 1
      const body = { kind, slug: `r-${slugs}`, display_name: 'R', host_node_ids }
      const { status, body: created } = await tenancy.call(deployer, `POST /v1/projects/${projectId}/resources`, body)
      expect(status).toBe(201)
      return String(created['id'])
    }

    async function secret(name: string, versions: readonly number[]): Promise<void> {
      const at = new Date(tenancy.clock.nowMs)
      const id = tenancy.ids.next()
      await tenancy.db
        .insertInto('project_secrets')
        .values({ id, project_id: projectId, name, created_at: at, updated_at: at })
        .execute()
      const rows = versions.map((version) => ({ secret_id: id, version, created_by: deployer, created_at: at }))
      await tenancy.db.insertInto('project_secret_versions').values(rows).execute()
    }

    /** Stores a configuration whose tunnels name these secrets. Gives its fingerprint. */
    async function configure(...refs: readonly string[]): Promise<string> {
      const tunnels = refs.map((auth_secret_ref, index) => ({ auth_secret_ref, slug: `t-${index}` }))
      const config = { ingress: [], relay: null, tunnels, user_access: [] }
      await stateRows(tenancy).bridgeConfig(domainId, resourceId, config)
      return digest(canonicalize(config))
    }

    const report = (nodeId: string | undefined, value: unknown) =>
      stateRows(tenancy).report(nodeId ?? '', `bridge.${resourceId}`, value)
    const status = (id = resourceId, as = observer, project = projectId) =>
      tenancy.call(as, `GET /v1/projects/${project}/resources/${id}/bridge/status`)
    const hostsNow = async () => (await status()).body['hosts'] as Readonly<Record<string, unknown>>[]

    it('shows the fingerprint that is wanted, the newest secrets, and hosts without a report as behind', async () => {
      const fingerprint = await configure('secret:acme/edge/hq-key', 'secret:acme/edge/hq-key:1')
      const { status: code, body } = await status()
      expect(code).toBe(200)
      expect(body).toEqual({
        resource_id: resourceId,
        fingerprint,
        updated_at: '2026-03-01T08:00:00.000Z',
        secrets: { 'secret:acme/edge/hq-key': 3, 'secret:acme/edge/hq-key:1': 1 },
        hosts: hosts.map((node_id) => ({
          node_id,
          name: expect.any(String),
          in_sync: false,
          fingerprint: null,
          applied_at: null,
          secrets: {},
          error: null,
          reported_at: null,
        })),
      })
    })

    it('finds a host in sync that has applied the configuration with every secret at its wanted version', async () => {
      const fingerprint = await configure('secret:acme/edge/hq-key')
      await report(hosts[0], { fingerprint, secrets: { 'secret:acme/edge/hq-key': 3 }, applied_at: AT })
      await report(hosts[1], { fingerprint, secrets: { 'secret:acme/edge/hq-key': 1 }, applied_at: AT })
      const [first, second] = await hostsNow()
      expect(first).toMatchObject({
        in_sync: true,
        fingerprint,
        applied_at: AT,
        secrets: { 'secret:acme/edge/hq-key': 3 },
        error: null,
        reported_at: '2026-03-01T08:00:00.000Z',
      })
      expect(second).toMatchObject({ in_sync: false, secrets: { 'secret:acme/edge/hq-key': 1 } })
    })

    it.each([
      ['another configuration', { fingerprint: digest('{}'), secrets: {} }, null],
      ['no configuration', { fingerprint: null, secrets: {}, applied_at: null }, null],
      ['an error', { error: 'port 443 is in use' }, 'port 443 is in use'],
    ])('finds a host with %s behind', async (_what, members, error) => {
      const fingerprint = await configure()
      await report(hosts[0], { fingerprint, secrets: {}, applied_at: AT, ...members })
      expect((await hostsNow())[0]).toMatchObject({ in_sync: false, error })
    })

    it.each([
      ['a text', 'applied'],
      ['null', null],
      ['a list', []],
      ['a number for the fingerprint', { fingerprint: 7, secrets: {}, applied_at: AT }],
      ['no instant', { fingerprint: digest('{}'), secrets: {}, applied_at: 'yesterday' }],
      ['a version of text', { fingerprint: digest('{}'), secrets: { a: '1' }, applied_at: AT }],
      ['version 0', { fingerprint: digest('{}'), secrets: { a: 0 }, applied_at: AT }],
      ['an error of another form', { fingerprint: digest('{}'), secrets: {}, applied_at: AT, error: { code: 1 } }],
    ])('answers with an error for a host that reports %s', async (_what, value) => {
      await configure()
      await report(hosts[0], value)
      expect((await hostsNow())[0]).toMatchObject({
        in_sync: false,
        fingerprint: null,
        secrets: {},
        error: 'The host sent a report that cannot be read.',
        reported_at: '2026-03-01T08:00:00.000Z',
      })
    })

    it('ignores members of a report that it does not know', async () => {
      const fingerprint = await configure()
      await report(hosts[0], { fingerprint, secrets: {}, applied_at: AT, interfaces: 4 })
      expect((await hostsNow())[0]).toMatchObject({ in_sync: true })
    })

    it('takes the fingerprint of the secrets for the secrets', async () => {
      const fingerprint = await configure('secret:acme/edge/hq-key')
      const secrets = { 'secret:acme/edge/hq-key': 3 }
      await report(hosts[0], { fingerprint, secrets_fingerprint: digest(canonicalize(secrets)), applied_at: AT })
      await report(hosts[1], { fingerprint, secrets_fingerprint: digest('{}'), applied_at: AT })
      const [first, second] = await hostsNow()
      expect(first).toMatchObject({ in_sync: true, secrets })
      expect(second).toMatchObject({ in_sync: false, secrets: {} })
    })

    it.each([
      ['secret', 'secret:acme/edge/gone'],
      ['version', 'secret:acme/edge/hq-key:2'],
    ])('finds no host in sync while a named %s does not exist, and names it', async (_what, ref) => {
      const fingerprint = await configure(ref)
      await report(hosts[0], { fingerprint, secrets: {}, applied_at: AT })
      await report(hosts[1], { fingerprint, secrets: { [ref]: 2 }, applied_at: AT })
      const { body } = await status()
      expect(body['secrets']).toEqual({})
      expect(body['hosts']).toEqual([
        expect.objectContaining({ in_sync: false, error: `${ref} does not exist.` }),
        expect.objectContaining({ in_sync: false, error: `${ref} does not exist.` }),
      ])
    })

    it('has nothing to want before the first configuration', async () => {
      const { body } = await status()
      expect(body).toMatchObject({ fingerprint: null, updated_at: null, secrets: {} })
      expect(await hostsNow()).toEqual(hosts.map((node_id) => expect.objectContaining({ node_id, in_sync: true })))
    })

    it('shows only the present hosts', async () => {
      await configure()
      const patched = await tenancy.call(tenancy.root, `PATCH /v1/projects/${projectId}/resources/${resourceId}`, {
        host_node_ids: hosts.slice(1),
      })
      expect(patched.status).toBe(200)
      expect((await hostsNow()).map(({ node_id }) => node_id)).toEqual(hosts.slice(1))
    })

    it('refuses a resource of another Project, and one that is no bridge', async () => {
      const elsewhere = await tenancy.project(domainId)
      expect(await status(resourceId, observer, elsewhere)).toMatchObject({
        status: 404,
        body: { code: 'resource_not_found' },
      })
      const vm = await resource('vm', [])
      const watcher = await tenancy.holder(domainId, 'viewer', `resource:${vm}`)
      expect(await status(vm, watcher)).toMatchObject({ status: 409, body: { code: 'resource_not_bridge' } })
    })
  })
})
