import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { INLINE, pack, packs, startCatalogue, type Catalogue } from '../../support/server/catalogue.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ZERO = '00000000-0000-0000-0000-000000000000'

type Members = Readonly<Record<string, unknown>>

describe.each(STORES)('Clouds on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let catalogue: Catalogue
    let slugs = 0
    beforeAll(async () => {
      catalogue = await startCatalogue(store)
    })
    afterAll(() => catalogue.stop())

    const asRoot = (operation: string, body?: unknown) => catalogue.call(catalogue.root, operation, body)
    const create = (members: Members, as = catalogue.root) => {
      slugs += 1
      const described = { slug: `s-${slugs}`, display_name: 'C', provider: 'hetzner', endpoint: {} }
      return catalogue.call(as, 'POST /v1/clouds', { ...described, ...members })
    }
    const patch = (id: string, body: unknown, as = catalogue.root) => catalogue.call(as, `PATCH /v1/clouds/${id}`, body)
    const row = (id: string) => catalogue.db.selectFrom('clouds').selectAll().where('id', '=', id).executeTakeFirst()
    /** A bundle of so many versions, with one package `base` of that version in each. */
    const bundleOf = async (versions: number, members?: Members) => {
      const id = await catalogue.bundle(members)
      await catalogue.publish(id, versions)
      return id
    }
    const pinned = async (versions = 3, version = 2, members?: Members) => {
      const bundle = await bundleOf(versions)
      const reference = { provider_bundle_id: bundle, provider_bundle_version: version }
      return { bundle, cloud: await catalogue.cloud({ ...reference, ...members }) }
    }
    const refusal = (answer: { status: number; body: Members }) => [answer.status, answer.body['code']]

    describe('CreateCloud', () => {
      it('stores an inline Cloud, hangs it off the platform, makes its creator admin, announces and audits it', async () => {
        const creator = await catalogue.holder(catalogue.home, 'admin', 'platform:main')
        const sent = {
          slug: 'eu1',
          display_name: 'Europe 1',
          provider: 'aws',
          endpoint: { account_id: '123456789012', partition: 'aws', note: { of: 'ours' } },
          region_defaults: { region: 'eu-central-1' },
          provider_packages: [pack('z'), pack('a', 'v2')],
          provider_config_api_version: 'aws.example.org/v1beta1',
        }
        const answer = await create(sent, creator)
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        expect(answer.body).toEqual({
          ...sent,
          id,
          external_id: '123456789012',
          provider_packages: [
            { ...pack('a', 'v2'), origin: 'cloud' },
            { ...pack('z'), origin: 'cloud' },
          ],
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(answer.headers.get('location')).toBe(`/v1/clouds/${id}`)
        expect((await catalogue.call(creator, `GET /v1/clouds/${id}`)).body).toEqual(answer.body)
        expect(await catalogue.tuplesOf(`cloud:${id}`)).toEqual(
          [`${creator} admin cloud:${id}`, `platform:main platform cloud:${id}`].toSorted(),
        )
        expect(await catalogue.outbox(answer)).toEqual([
          {
            event: 'CloudCreated',
            domain_id: null,
            aggregate: `cloud:${id}`,
            payload: { cloud_id: id, slug: 'eu1', provider: 'aws' },
          },
        ])
        expect(await catalogue.audit(answer)).toEqual({
          relation: 'cloud.create',
          object: `cloud:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: null,
        })
      })

      it('pins the latest version of a bundle, or the one that it names, with overrides over it', async () => {
        const bundle = await bundleOf(3)
        const latest = await create({ provider_bundle_id: bundle.toUpperCase() })
        expect(latest.body).toMatchObject({
          provider_bundle_id: bundle,
          provider_bundle_version: 3,
          provider_packages: [{ ...pack('base', 'v3'), origin: 'bundle' }],
          provider_config_api_version: 'v1beta1',
          region_defaults: {},
          external_id: 'api.hetzner.cloud',
        })
        const overrides = [pack('extra'), { source: 'registry.example/base', version: 'v9' }]
        const reference = { provider_bundle_id: bundle, provider_bundle_version: 1 }
        const named = await create({ ...reference, provider_package_overrides: overrides })
        expect(named.body['provider_packages']).toEqual([
          { source: 'registry.example/base', version: 'v9', origin: 'override' },
          { ...pack('extra'), origin: 'override' },
        ])
        expect(named.body['provider_bundle_version']).toBe(1)
      })

      it.each([
        [
          'both modes',
          { ...INLINE, provider_bundle_id: UNKNOWN },
          ['provider_packages', 'provider_config_api_version', 'provider_bundle_id'],
        ],
        [
          'both modes, malformed',
          { provider_packages: 7, provider_bundle_id: 7 },
          ['provider_packages', 'provider_bundle_id'],
        ],
        [
          'a version beside packages',
          { ...INLINE, provider_bundle_version: 1 },
          ['provider_packages', 'provider_config_api_version', 'provider_bundle_version'],
        ],
        [
          'overrides beside half a pair',
          { provider_packages: packs(1), provider_package_overrides: [] },
          ['provider_packages', 'provider_package_overrides'],
        ],
        ['a version without bundle', { provider_bundle_version: 1 }, ['provider_bundle_version']],
        ['a malformed bundle id', { provider_bundle_id: 'hetzner-base' }, ['provider_bundle_id']],
        [
          'a bundle id that is no text, and a wrong name',
          { display_name: 7, provider_bundle_id: 7 },
          ['provider_bundle_id'],
        ],
        ['the zero UUID as bundle', { provider_bundle_id: ZERO }, ['provider_bundle_id']],
      ])('refuses %s as invalid_cloud_provider_mode and names the members', async (_, members, fields) => {
        const answer = await create(members)
        expect(refusal(answer)).toEqual([400, 'invalid_cloud_provider_mode'])
        expect(answer.body['fields']).toEqual(fields)
      })

      it.each([
        ['no mode', {}, ['provider_packages', 'provider_config_api_version']],
        ['packages alone', { provider_packages: packs(1) }, ['provider_config_api_version']],
        ['an API version alone', { provider_config_api_version: 'v1' }, ['provider_packages']],
        ['no packages', { ...INLINE, provider_packages: [] }, ['provider_packages']],
        ['17 packages', { ...INLINE, provider_packages: packs(17) }, ['provider_packages']],
        ['a source twice', { ...INLINE, provider_packages: [pack('a'), pack('a')] }, ['provider_packages']],
        [
          'a package with a tag in its source',
          { ...INLINE, provider_packages: [{ source: 'r.example/a:v1', version: 'v1' }] },
          ['provider_packages'],
        ],
        [
          'an override twice',
          { provider_bundle_id: UNKNOWN, provider_package_overrides: [pack('a'), pack('a')] },
          ['provider_package_overrides'],
        ],
        [
          'a malformed API version',
          { ...INLINE, provider_config_api_version: 'beta' },
          ['provider_config_api_version'],
        ],
        [
          'a version that is no number',
          { provider_bundle_id: UNKNOWN, provider_bundle_version: '3' },
          ['provider_bundle_version'],
        ],
        ['no endpoint', { ...INLINE, endpoint: undefined }, ['endpoint']],
        ['an endpoint that is a list', { ...INLINE, endpoint: [] }, ['endpoint']],
        ['a provider that there is not', { ...INLINE, provider: 'vsphere' }, ['provider']],
        ['no slug and no name', { ...INLINE, slug: undefined, display_name: undefined }, ['slug', 'display_name']],
        ['an endpoint of another provider', { ...INLINE, provider: 'aws' }, ['endpoint']],
        ['a URL without TLS', { ...INLINE, endpoint: { api_url: 'http://h.example' } }, ['endpoint']],
        ['a malformed region', { ...INLINE, region_defaults: { location: 'a b' } }, ['region_defaults']],
        ['a secret in the endpoint', { ...INLINE, endpoint: { Token: 'x' } }, ['endpoint']],
        [
          'a secret deep inside',
          { ...INLINE, region_defaults: { a: [{ b: { 'Private-Key': 'x' } }] } },
          ['region_defaults'],
        ],
      ])('refuses %s as invalid_cloud and names the members', async (_, members, fields) => {
        const answer = await create(members)
        expect(refusal(answer)).toEqual([400, 'invalid_cloud'])
        expect(answer.body['fields']).toEqual(fields)
        expect(JSON.stringify(answer.body)).not.toContain('"x"')
      })

      it.each([
        ['an unknown member', { ...INLINE, external_id: 'x' }],
        ['what answers alone have', { ...INLINE, provider_bundle_slug: 'x' }],
      ])('refuses %s as invalid_body', async (_, members) => {
        expect(refusal(await create(members))).toEqual([400, 'invalid_body'])
      })

      it('refuses a bundle that is unknown, of another provider, or without that version, and stores nothing', async () => {
        const bundle = await bundleOf(2)
        const before = await catalogue.db.selectFrom('clouds').select('id').execute()
        const codeOf = async (members: Members) => (await create(members)).body['code']
        expect(await codeOf({ provider_bundle_id: UNKNOWN })).toBe('unknown_provider_bundle')
        const aws = { provider: 'aws', endpoint: { account_id: '123456789012' } }
        expect(await codeOf({ ...aws, provider_bundle_id: bundle })).toBe('provider_bundle_provider_mismatch')
        for (const provider_bundle_version of [3, 0, -1, 2 ** 40]) {
          const answer = await create({ provider_bundle_id: bundle, provider_bundle_version })
          expect(refusal(answer)).toEqual([400, 'provider_bundle_version_not_found'])
          expect(await catalogue.outbox(answer)).toEqual([])
        }
        expect(await catalogue.db.selectFrom('clouds').select('id').execute()).toEqual(before)
      })

      it('refuses more than 16 packages in effect, and takes 16', async () => {
        const bundle = await catalogue.bundle({ provider_packages: packs(16) })
        const over = await create({ provider_bundle_id: bundle, provider_package_overrides: [pack('more')] })
        expect([...refusal(over), over.body['fields']]).toEqual([
          400,
          'invalid_cloud',
          ['provider_package_overrides', 'provider_bundle_id'],
        ])
        const within = await create({ provider_bundle_id: bundle, provider_package_overrides: [pack('p00', 'v2')] })
        expect(within.body['provider_packages']).toHaveLength(16)
      })

      it('is refused to a manager of a bundle who does not manage the platform', async () => {
        const bundle = await catalogue.bundle()
        const manager = await catalogue.holder(catalogue.home, 'admin', `provider_bundle:${bundle}`)
        expect(refusal(await create({ provider_bundle_id: bundle }, manager))).toEqual([403, 'permission_denied'])
      })
    })

    describe('ListClouds', () => {
      it('lists the Clouds that the caller may observe, resolved, and audits their number', async () => {
        const { cloud } = await pinned(2, 1, { provider_package_overrides: [pack('extra')] })
        const other = await catalogue.cloud()
        const viewer = await catalogue.holder(catalogue.home, 'viewer', `cloud:${cloud}`)
        const answer = await catalogue.call(viewer, 'GET /v1/clouds?limit=200')
        expect(answer.body['items']).toEqual([await catalogue.shown(cloud)])
        expect(await catalogue.audit(answer)).toMatchObject({ relation: 'cloud.list', object: 'platform:main' })
        expect(await catalogue.context(answer)).toEqual({ item_count: 1 })
        const all = (await asRoot('GET /v1/clouds?limit=200')).body['items'] as readonly Members[]
        expect(all).toContainEqual(await catalogue.shown(other))
      })

      it('shows a Cloud that is lent to a Project to who may read the Project', async () => {
        const domain = await catalogue.domain()
        const project = await catalogue.project(domain)
        const cloud = await catalogue.cloud()
        const viewer = await catalogue.holder(domain, 'viewer', `project:${project}`)
        expect((await catalogue.call(viewer, `GET /v1/clouds/${cloud}`)).status).toBe(403)
        const lent = { subject: `project:${project}`, relation: 'consumer', resource: `cloud:${cloud}` }
        await catalogue.change(({ tuples }) => tuples.createStructural(lent, { domainId: domain, projectId: project }))
        expect((await catalogue.call(viewer, `GET /v1/clouds/${cloud}`)).status).toBe(200)
        expect((await patch(cloud, { display_name: 'X' }, viewer)).status).toBe(403)
      })
    })

    describe('PatchCloud', () => {
      it('changes the members that it names, and derives external_id again', async () => {
        const id = await catalogue.cloud()
        const sent = {
          display_name: 'N',
          endpoint: { api_url: 'https://h.example:8443/v1' },
          region_defaults: { location: 'x' },
        }
        const answer = await patch(id, sent)
        expect(answer.body).toMatchObject({ ...sent, external_id: 'h.example:8443' })
        expect(await catalogue.shown(id)).toEqual(answer.body)
        expect(await catalogue.context(answer)).toEqual({ fields: ['display_name', 'endpoint', 'region_defaults'] })
        expect(await catalogue.audit(answer)).toMatchObject({
          relation: 'cloud.update',
          object: `cloud:${id}`,
          domainId: null,
        })
        expect(await catalogue.outbox(answer)).toMatchObject([{ event: 'CloudUpdated', aggregate: `cloud:${id}` }])
      })

      it('replaces the whole set of packages, and takes the API version alone', async () => {
        const id = await catalogue.cloud({ ...INLINE, provider_packages: packs(3) })
        expect((await patch(id, { provider_packages: [pack('b')] })).body).toMatchObject({
          provider_packages: [{ ...pack('b'), origin: 'cloud' }],
          provider_config_api_version: 'v1beta1',
        })
        expect((await patch(id, { provider_config_api_version: 'v2' })).body).toMatchObject({
          provider_packages: [{ ...pack('b'), origin: 'cloud' }],
          provider_config_api_version: 'v2',
        })
      })

      it.each([
        ['a slug, also unchanged', { slug: 'x', provider: 'aws' }, 'slug_immutable'],
        [
          'a provider in a body of both modes',
          { provider: 'aws', ...INLINE, provider_bundle_id: 'x' },
          'provider_immutable',
        ],
        ['nothing', {}, 'empty_patch'],
        ['both modes', { ...INLINE, provider_bundle_id: UNKNOWN }, 'invalid_cloud_provider_mode'],
        [
          'both modes, malformed',
          { provider_packages: [], provider_bundle_version: 'x' },
          'invalid_cloud_provider_mode',
        ],
        ['a malformed bundle id', { provider_bundle_id: 'x', display_name: 7 }, 'invalid_cloud_provider_mode'],
        ['no packages', { provider_packages: [] }, 'invalid_cloud'],
        ['a name that is no text', { display_name: 7 }, 'invalid_cloud'],
        ['an endpoint that the provider does not take', { endpoint: { api_url: 'ftp://x' } }, 'invalid_cloud'],
        ['an unknown member', { external_id: 'x' }, 'invalid_body'],
        ['a version without a bundle', { provider_bundle_version: 1 }, 'invalid_cloud_provider_mode'],
        ['a malformed version without a bundle', { provider_bundle_version: 'x' }, 'invalid_cloud_provider_mode'],
        ['overrides without a bundle', { provider_package_overrides: [] }, 'invalid_cloud_provider_mode'],
        ['17 overrides without a bundle', { provider_package_overrides: packs(17) }, 'invalid_cloud_provider_mode'],
        ['an unknown bundle', { provider_bundle_id: UNKNOWN }, 'unknown_provider_bundle'],
        ['an unknown bundle and a wrong endpoint', { provider_bundle_id: UNKNOWN, endpoint: [] }, 'invalid_cloud'],
      ])('refuses, on an inline Cloud, %s', async (_, sent, code) => {
        const id = await catalogue.cloud()
        const before = await row(id)
        expect(refusal(await patch(id, sent))).toEqual([400, code])
        expect(await row(id)).toEqual(before)
      })

      it.each([
        [
          'half an inline pair',
          { provider_packages: packs(1) },
          'invalid_cloud_provider_mode',
          ['provider_config_api_version'],
        ],
        [
          'half a malformed pair',
          { provider_packages: [] },
          'invalid_cloud_provider_mode',
          ['provider_config_api_version'],
        ],
        ['the other half', { provider_config_api_version: 'v1' }, 'invalid_cloud_provider_mode', ['provider_packages']],
        ['a malformed pair', { ...INLINE, provider_packages: [] }, 'invalid_cloud', ['provider_packages']],
        ['a version never published', { provider_bundle_version: 4 }, 'provider_bundle_version_not_found', undefined],
        ['a version that is no number', { provider_bundle_version: 'x' }, 'invalid_cloud', ['provider_bundle_version']],
        [
          'an override without version',
          { provider_package_overrides: [{ source: 'r.example/a' }] },
          'invalid_cloud',
          ['provider_package_overrides'],
        ],
      ])('refuses, on a Cloud with a bundle, %s', async (_, sent, code, fields) => {
        const { cloud } = await pinned()
        const before = await row(cloud)
        const answer = await patch(cloud, sent)
        expect([...refusal(answer), answer.body['fields']]).toEqual([400, code, fields])
        expect(await row(cloud)).toEqual(before)
      })

      it('moves between the modes: a bundle id takes the packages away, both inline members drop reference and overrides', async () => {
        const bundle = await bundleOf(2)
        const id = await catalogue.cloud()
        const moved = await patch(id, { provider_bundle_id: bundle, provider_package_overrides: [pack('extra')] })
        expect(moved.body).toMatchObject({
          provider_bundle_id: bundle,
          provider_bundle_version: 2,
          provider_packages: [
            { ...pack('base', 'v2'), origin: 'bundle' },
            { ...pack('extra'), origin: 'override' },
          ],
        })
        expect(await row(id)).toMatchObject({ provider_packages: null, provider_config_api_version: null })
        const back = await patch(id, INLINE)
        expect(back.body['provider_packages']).toEqual([{ ...pack('own'), origin: 'cloud' }])
        for (const member of ['provider_bundle_id', 'provider_bundle_slug', 'provider_bundle_version']) {
          expect(back.body).not.toHaveProperty(member)
        }
        expect(await row(id)).toMatchObject({ bundle_id: null, bundle_version: null, package_overrides: null })
        const again = await patch(id, { provider_bundle_id: bundle, provider_bundle_version: 1 })
        expect(again.body['provider_packages']).toEqual([{ ...pack('base'), origin: 'bundle' }])
      })

      it('promotes one Cloud to a version, keeps its overrides, and no content patch moves a pin', async () => {
        const { bundle, cloud } = await pinned(2, 1, { provider_package_overrides: [pack('extra')] })
        const other = await catalogue.cloud({ provider_bundle_id: bundle, provider_bundle_version: 1 })
        await patch(cloud, { provider_bundle_version: 2 })
        await asRoot(`PATCH /v1/provider-bundles/${bundle}`, { provider_packages: [pack('base', 'v3')] })
        expect(await catalogue.shown(cloud)).toMatchObject({
          provider_bundle_version: 2,
          provider_packages: [
            { ...pack('base', 'v2'), origin: 'bundle' },
            { ...pack('extra'), origin: 'override' },
          ],
        })
        expect((await catalogue.shown(other))['provider_bundle_version']).toBe(1)
        expect((await patch(cloud, { provider_bundle_version: 1 })).body['provider_bundle_version']).toBe(1)
      })

      it('re-points to another bundle and keeps overrides unless they are named; an empty list clears them', async () => {
        const { cloud } = await pinned(1, 1, { provider_package_overrides: [pack('extra')] })
        const target = await catalogue.bundle({ provider_packages: [pack('other')] })
        const moved = await patch(cloud, { provider_bundle_id: target })
        expect(moved.body['provider_packages']).toEqual([
          { ...pack('extra'), origin: 'override' },
          { ...pack('other'), origin: 'bundle' },
        ])
        const named = await patch(cloud, {
          provider_bundle_id: target,
          provider_package_overrides: [pack('other', 'v5')],
        })
        expect(named.body['provider_packages']).toEqual([{ ...pack('other', 'v5'), origin: 'override' }])
        const cleared = await patch(cloud, { provider_package_overrides: [] })
        expect(cleared.body['provider_packages']).toEqual([{ ...pack('other'), origin: 'bundle' }])
      })

      it('refuses a promotion after which more than 16 packages are in effect', async () => {
        const bundle = await catalogue.bundle({ provider_packages: [pack('p00')] })
        await asRoot(`PATCH /v1/provider-bundles/${bundle}`, { provider_packages: packs(16) })
        const reference = { provider_bundle_id: bundle, provider_bundle_version: 1 }
        const cloud = await catalogue.cloud({ ...reference, provider_package_overrides: [pack('more')] })
        const before = await row(cloud)
        const refused = await patch(cloud, { provider_bundle_version: 2 })
        expect([...refusal(refused), refused.body['fields']]).toEqual([
          400,
          'invalid_cloud',
          ['provider_bundle_version'],
        ])
        expect(await row(cloud)).toEqual(before)
        const both = await patch(cloud, { provider_bundle_version: 2, provider_package_overrides: [] })
        expect(both.body['provider_packages']).toHaveLength(16)
      })

      it('has no other bundle than one of its provider', async () => {
        const id = await catalogue.cloud()
        const aws = await catalogue.bundle({ provider: 'aws' })
        expect(refusal(await patch(id, { provider_bundle_id: aws }))).toEqual([
          400,
          'provider_bundle_provider_mismatch',
        ])
      })

      it('refuses a malformed and a zero id as invalid_cloud_id', async () => {
        for (const id of ['x', ZERO])
          expect(refusal(await patch(id, { display_name: 'X' }))).toEqual([400, 'invalid_cloud_id'])
      })
    })

    describe('DeleteCloud', () => {
      it('is refused while the Cloud has a credential in any state, with their number', async () => {
        const id = await catalogue.cloud()
        const at = new Date()
        for (const state of ['active', 'revoked'] as const) {
          const credential = { id: catalogue.ids.next(), cloud_id: id, display_name: 'K', state, secret_version: 1 }
          await catalogue.db
            .insertInto('cloud_credentials')
            .values({ ...credential, expires_at: null, created_at: at, updated_at: at })
            .execute()
        }
        const answer = await asRoot(`DELETE /v1/clouds/${id}`)
        expect([...refusal(answer), answer.body['counts']]).toEqual([409, 'cloud_not_empty', { cloud_credentials: 2 }])
        expect(await row(id)).toBeDefined()
      })

      it('takes its assignments and every tuple about it along, and announces it', async () => {
        const domain = await catalogue.domain()
        const project = await catalogue.project(domain)
        const id = await catalogue.cloud()
        const at = new Date()
        const lent = { subject: `project:${project}`, relation: 'consumer', resource: `cloud:${id}` }
        await catalogue.change(({ tuples }) => tuples.createStructural(lent, { domainId: domain, projectId: project }))
        await catalogue.db
          .insertInto('cloud_assignments')
          .values({
            id: catalogue.ids.next(),
            project_id: project,
            cloud_id: id,
            state: 'approved',
            approval_id: catalogue.ids.next(),
            created_at: at,
            updated_at: at,
          })
          .execute()
        const answer = await asRoot(`DELETE /v1/clouds/${id}`)
        expect(answer.status).toBe(204)
        expect(await catalogue.tuplesOf(`cloud:${id}`)).toEqual([])
        const left = catalogue.db.selectFrom('cloud_assignments').selectAll().where('cloud_id', '=', id)
        expect(await left.execute()).toEqual([])
        expect(await catalogue.outbox(answer)).toMatchObject([{ event: 'CloudDeleted', aggregate: `cloud:${id}` }])
        expect(await catalogue.audit(answer)).toMatchObject({ relation: 'cloud.delete', object: `cloud:${id}` })
      })
    })
  })
})
