import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { pack, packs, startCatalogue, type Catalogue } from '../../support/server/catalogue.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Provider bundles on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let catalogue: Catalogue
    let nobody: string
    beforeAll(async () => {
      catalogue = await startCatalogue(store)
      nobody = await catalogue.principal(catalogue.home)
    })
    afterAll(() => catalogue.stop())

    const asRoot = (operation: string, body?: unknown) => catalogue.call(catalogue.root, operation, body)
    const at = (id: string, part = '') => `/v1/provider-bundles/${id}${part}`
    const patch = (id: string, body: unknown, as = catalogue.root) => catalogue.call(as, `PATCH ${at(id)}`, body)
    const versionsOf = async (id: string) => (await asRoot(`GET ${at(id, '/versions')}`)).body['items']
    const body = (members: Readonly<Record<string, unknown>>) => ({
      slug: 'some-slug',
      display_name: 'B',
      provider: 'aws',
      provider_packages: [pack('a')],
      provider_config_api_version: 'v1',
      ...members,
    })

    describe('CreateProviderBundle', () => {
      it('stores version 1 with its packages by source, announces and audits it', async () => {
        const sent = body({ slug: 'aws-base', provider_packages: [pack('z'), pack('a', 'sha256:' + 'a'.repeat(64))] })
        const answer = await asRoot('POST /v1/provider-bundles', sent)
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        const provider_packages = [pack('a', 'sha256:' + 'a'.repeat(64)), pack('z')]
        const created = { created_at: '2026-03-01T08:00:00.000Z' }
        expect(answer.body).toEqual({
          id,
          slug: 'aws-base',
          display_name: 'B',
          provider: 'aws',
          provider_packages,
          provider_config_api_version: 'v1',
          latest_version: 1,
          ...created,
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(answer.headers.get('location')).toBe(`/v1/provider-bundles/${id}`)
        expect(await catalogue.outbox(answer)).toEqual([
          {
            event: 'ProviderBundleCreated',
            domain_id: null,
            aggregate: `provider_bundle:${id}`,
            payload: { provider_bundle_id: id, slug: 'aws-base', provider: 'aws', created_by: catalogue.root },
          },
        ])
        expect(await catalogue.audit(answer)).toMatchObject({
          relation: 'provider_bundle.create',
          object: `provider_bundle:${id}`,
          outcome: 'granted',
          domainId: null,
        })
        await catalogue.writeGrants()
        expect(await versionsOf(id)).toEqual([
          { version: 1, provider_packages, provider_config_api_version: 'v1', created_by: catalogue.root, ...created },
        ])
      })

      it('is refused to everybody until the grants are written, its creator included, and listed after', async () => {
        const creator = await catalogue.holder(catalogue.home, 'admin', 'platform:main')
        const id = String(
          (await catalogue.call(creator, 'POST /v1/provider-bundles', body({ slug: 'early' }))).body['id'],
        )
        const seenBy = async (as: string) => {
          const { body: page } = await catalogue.call(as, 'GET /v1/provider-bundles?limit=200')
          const listed = page['items'] as readonly { readonly id: string }[]
          const { status } = await catalogue.call(as, `GET ${at(id)}`)
          return [status, listed.some((bundle) => bundle.id === id)]
        }
        expect(await catalogue.tuplesOf(`provider_bundle:${id}`)).toEqual([])
        for (const as of [creator, catalogue.root]) expect(await seenBy(as)).toEqual([403, false])
        await catalogue.writeGrants()
        await catalogue.writeGrants()
        expect(await catalogue.tuplesOf(`provider_bundle:${id}`)).toEqual(
          [`${creator} admin provider_bundle:${id}`, `platform:main platform provider_bundle:${id}`].toSorted(),
        )
        for (const as of [creator, catalogue.root]) expect(await seenBy(as)).toEqual([200, true])
        expect(await seenBy(nobody)).toEqual([403, false])
      })

      it('leaves no grant for a bundle that was deleted before they were written', async () => {
        const id = String((await asRoot('POST /v1/provider-bundles', body({ slug: 'short-lived' }))).body['id'])
        await catalogue.db.deleteFrom('provider_bundles').where('id', '=', id).execute()
        await catalogue.writeGrants()
        expect(await catalogue.tuplesOf(`provider_bundle:${id}`)).toEqual([])
      })

      it('gives no role to a creator that is gone, and the platform its edge', async () => {
        const creator = await catalogue.holder(catalogue.home, 'admin', 'platform:main')
        const made = await catalogue.call(creator, 'POST /v1/provider-bundles', body({ slug: 'orphan' }))
        await catalogue.db.deleteFrom('principals').where('id', '=', creator.slice('user:'.length)).execute()
        await catalogue.writeGrants()
        const id = String(made.body['id'])
        expect(await catalogue.tuplesOf(`provider_bundle:${id}`)).toEqual([
          `platform:main platform provider_bundle:${id}`,
        ])
      })

      it.each([
        ['no packages', { provider_packages: [] }, ['provider_packages']],
        ['17 packages', { provider_packages: packs(17) }, ['provider_packages']],
        ['a source twice', { provider_packages: [pack('a'), pack('a', 'v2')] }, ['provider_packages']],
        [
          'a source with and without its scheme',
          { provider_packages: [pack('a'), { source: 'registry.example/a', version: 'v2' }] },
          ['provider_packages'],
        ],
        ['a package without version', { provider_packages: [{ source: 'oci://r.example/a' }] }, ['provider_packages']],
        ['an origin', { provider_packages: [{ ...pack('a'), origin: 'bundle' }] }, ['provider_packages']],
        ['no package at all', { provider_packages: undefined }, ['provider_packages']],
        ['a malformed API version', { provider_config_api_version: '1' }, ['provider_config_api_version']],
        ['an unknown provider', { provider: 'vsphere' }, ['provider']],
        ['a slug in capitals', { slug: 'AWS' }, ['slug']],
        ['a blank name', { display_name: ' ' }, ['display_name']],
        ['nothing but wrong members', { slug: 1, display_name: 1 }, ['slug', 'display_name']],
      ])('refuses %s as invalid_provider_bundle and names the members', async (_, members, fields) => {
        const answer = await asRoot('POST /v1/provider-bundles', body(members))
        expect([answer.status, answer.body['code'], answer.body['fields']]).toEqual([
          400,
          'invalid_provider_bundle',
          fields,
        ])
      })

      it.each([
        ['an unknown member', { ...body({}), colour: 'red' }],
        ['a list', []],
      ])('refuses %s as invalid_body', async (_, sent) => {
        const answer = await asRoot('POST /v1/provider-bundles', sent)
        expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_body'])
      })
    })

    describe('PatchProviderBundle', () => {
      it('publishes one version for a patch of content, also where nothing differs, and none for a name', async () => {
        const id = await catalogue.bundle({ provider_packages: packs(2), provider_config_api_version: 'v1' })
        const content = { provider_packages: packs(2), provider_config_api_version: 'v1' }
        const latest = async (sent: unknown) => (await patch(id, sent)).body['latest_version']
        expect(await latest({ display_name: 'Renamed' })).toBe(1)
        expect(await latest(content)).toBe(2)
        expect(await latest({ provider_config_api_version: 'v2', display_name: 'Again' })).toBe(3)
        expect(await latest({ provider_packages: packs(1) })).toBe(4)
        expect(await versionsOf(id)).toMatchObject([
          { version: 4, provider_packages: packs(1), provider_config_api_version: 'v2' },
          { version: 3, provider_packages: packs(2), provider_config_api_version: 'v2' },
          { version: 2, provider_packages: packs(2), provider_config_api_version: 'v1' },
          { version: 1, provider_packages: packs(2), provider_config_api_version: 'v1' },
        ])
        expect((await asRoot(`GET ${at(id)}`)).body).toMatchObject({ display_name: 'Again', latest_version: 4 })
      })

      it('names who published a version, and audits the names of the members that changed', async () => {
        const id = await catalogue.bundle()
        const manager = await catalogue.holder(catalogue.home, 'admin', `provider_bundle:${id}`)
        const answer = await patch(id, { provider_packages: packs(3), display_name: 'N' }, manager)
        expect(answer.status).toBe(200)
        expect(await catalogue.context(answer)).toEqual({ fields: ['display_name', 'provider_packages'] })
        expect(await versionsOf(id)).toMatchObject([{ created_by: manager }, { created_by: catalogue.root }])
        expect(await catalogue.outbox(answer)).toMatchObject([{ event: 'ProviderBundleUpdated', domain_id: null }])
      })

      it('has one winner for each version among 20 patches at once; the others are stale', async () => {
        const id = await catalogue.bundle()
        const sent = Array.from({ length: 20 }, (_, index) =>
          patch(id, { provider_packages: [pack('race', `v${index}`)] }),
        )
        const answers = await Promise.all(sent)
        const won = answers.filter(({ status }) => status === 200)
        const lost = answers.filter(({ status }) => status !== 200)
        expect(new Set(lost.map(({ body: { code } }) => code))).toEqual(
          new Set(lost.length > 0 ? ['provider_bundle_stale'] : []),
        )
        expect(lost.every(({ status }) => status === 409)).toBe(true)
        const numbers = won.map(({ body: { latest_version: latest } }) => Number(latest)).toSorted((a, b) => a - b)
        expect(numbers).toEqual(won.map((_, index) => index + 2))
        const versions = (await versionsOf(id)) as readonly {
          readonly version: number
          readonly provider_packages: unknown
        }[]
        expect(versions.map(({ version }) => version)).toEqual([1, ...numbers].toReversed())
        for (const { body: answered } of won) {
          const own = versions.find(({ version }) => version === answered['latest_version'])
          expect(own?.provider_packages).toEqual(answered['provider_packages'])
        }
        for (const answer of lost) expect(await catalogue.outbox(answer)).toEqual([])
      })

      it.each([
        ['a slug, also unchanged', { slug: 'x', provider: 'aws' }, 'slug_immutable'],
        ['a provider beside wrong members', { provider: 'aws', provider_packages: [] }, 'provider_immutable'],
        ['nothing', {}, 'empty_patch'],
        ['no packages', { provider_packages: [] }, 'invalid_provider_bundle'],
        ['a name that is no text', { display_name: 7 }, 'invalid_provider_bundle'],
        ['an unknown member', { colour: 'red' }, 'invalid_body'],
        ['the version', { latest_version: 3 }, 'invalid_body'],
      ])('refuses %s', async (_, sent, code) => {
        const id = await catalogue.bundle()
        const answer = await patch(id, sent)
        expect([answer.status, answer.body['code']]).toEqual([400, code])
        expect((await asRoot(`GET ${at(id)}`)).body['latest_version']).toBe(1)
      })

      it('is refused to who may only observe the bundle, an auditor of the platform included', async () => {
        const id = await catalogue.bundle()
        const viewer = await catalogue.holder(catalogue.home, 'viewer', `provider_bundle:${id}`)
        const auditor = await catalogue.holder(catalogue.home, 'auditor', 'platform:main')
        for (const as of [viewer, auditor]) {
          expect((await catalogue.call(as, `GET ${at(id)}`)).status).toBe(200)
          expect((await catalogue.call(as, `GET ${at(id, '/versions')}`)).status).toBe(200)
          expect((await catalogue.call(as, `GET ${at(id, '/clouds')}`)).status).toBe(403)
          expect((await patch(id, { display_name: 'X' }, as)).status).toBe(403)
          expect((await catalogue.call(as, `DELETE ${at(id)}`)).status).toBe(403)
        }
      })
    })

    describe('DeleteProviderBundle', () => {
      it('is refused while Clouds reference the bundle, with their number, and then takes versions and tuples', async () => {
        const id = await catalogue.bundle()
        const clouds = [
          await catalogue.cloud({ provider_bundle_id: id }),
          await catalogue.cloud({ provider_bundle_id: id }),
        ]
        const manager = await catalogue.holder(catalogue.home, 'admin', `provider_bundle:${id}`)
        const refused = await catalogue.call(manager, `DELETE ${at(id)}`)
        expect([refused.status, refused.body]).toMatchObject([
          409,
          { code: 'provider_bundle_referenced', referencing_clouds: 2 },
        ])
        for (const cloud of clouds) await asRoot(`DELETE /v1/clouds/${cloud}`)
        const deleted = await catalogue.call(manager, `DELETE ${at(id)}`)
        expect(deleted.status).toBe(204)
        expect(await catalogue.tuplesOf(`provider_bundle:${id}`)).toEqual([])
        expect(await catalogue.outbox(deleted)).toMatchObject([{ event: 'ProviderBundleDeleted' }])
        const left = catalogue.db.selectFrom('provider_bundle_versions').selectAll().where('bundle_id', '=', id)
        expect(await left.execute()).toEqual([])
        expect((await asRoot(`GET ${at(id)}`)).status).toBe(403)
      })

      it('comes before or after a Cloud that is created with the bundle at once, and never between', async () => {
        for (let round = 0; round < 8; round++) {
          const id = await catalogue.bundle()
          const cloud = {
            slug: `race-${round}`,
            display_name: 'R',
            provider: 'hetzner',
            endpoint: {},
            provider_bundle_id: id,
          }
          const both = [() => asRoot(`DELETE ${at(id)}`), () => asRoot('POST /v1/clouds', cloud)]
          const order = round % 2 === 0 ? both : both.toReversed()
          const answers = await Promise.all(order.map((call) => call()))
          const [deleted, created] = round % 2 === 0 ? answers : answers.toReversed()
          expect([
            [204, 'unknown_provider_bundle'],
            ['provider_bundle_referenced', 201],
          ]).toContainEqual([deleted, created].map((one) => one?.body['code'] ?? one?.status))
        }
      })

      it('is 404 only for a caller whom the graph still grants; an unknown id is 403', async () => {
        const id = await catalogue.bundle()
        await catalogue.db.deleteFrom('provider_bundles').where('id', '=', id).execute()
        for (const call of [
          `GET ${at(id)}`,
          `DELETE ${at(id)}`,
          `GET ${at(id, '/clouds')}`,
          `GET ${at(id, '/versions')}`,
        ]) {
          const answer = await asRoot(call)
          expect([answer.status, answer.body['code']]).toEqual([404, 'provider_bundle_not_found'])
          expect((await asRoot(call.replace(id, UNKNOWN))).status).toBe(403)
        }
        expect((await patch(id, { display_name: 'X' })).body['code']).toBe('provider_bundle_not_found')
      })
    })

    describe('the lists', () => {
      it('show every Cloud of the bundle by id, also those that the caller may not observe, and audit their number', async () => {
        const id = await catalogue.bundle()
        const manager = await catalogue.holder(catalogue.home, 'admin', `provider_bundle:${id}`)
        expect((await catalogue.call(manager, `GET ${at(id, '/clouds')}`)).body['items']).toEqual([])
        await catalogue.publish(id, 3)
        const clouds = []
        for (const version of [3, 1, 2]) {
          const pinned = { provider_bundle_id: id, provider_bundle_version: version, display_name: `At ${version}` }
          clouds.push({
            cloud_id: await catalogue.cloud(pinned),
            display_name: `At ${version}`,
            provider_bundle_version: version,
          })
        }
        const answer = await catalogue.call(manager, `GET ${at(id, '/clouds')}`)
        expect(answer.body['items']).toMatchObject(clouds)
        expect(await catalogue.context(answer)).toMatchObject({ item_count: 3 })
        expect(await catalogue.audit(answer)).toMatchObject({
          relation: 'provider_bundle.read',
          object: `provider_bundle:${id}`,
        })
        expect((await catalogue.call(manager, `GET /v1/clouds/${clouds[0]?.cloud_id}`)).status).toBe(403)
      })

      it('list versions by their number, also beyond nine, across pages', async () => {
        const id = await catalogue.bundle()
        await catalogue.publish(id, 12)
        const numbers: number[] = []
        for (let query = '?limit=5'; query !== '';) {
          const { body: page } = await asRoot(`GET ${at(id, '/versions')}${query}`)
          numbers.push(...(page['items'] as readonly { readonly version: number }[]).map(({ version }) => version))
          const next = page['next_cursor'] as string | null
          query = next === null ? '' : `?limit=5&cursor=${next}`
        }
        expect(numbers).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
      })

      it('refuse a cursor of another operation or bundle before they look whose it is', async () => {
        const [id, other] = [await catalogue.bundle(), await catalogue.bundle()]
        await catalogue.publish(id, 2)
        const deputy = await catalogue.holder(catalogue.home, 'admin', 'platform:main')
        const { body: page } = await asRoot(`GET ${at(id, '/versions')}?limit=1`)
        const cursor = `?limit=1&cursor=${String(page['next_cursor'])}`
        const codeOf = async (path: string, as: string) => {
          const { status, body: answered } = await catalogue.call(as, `GET ${path}${cursor}`)
          return [status, answered['code']]
        }
        for (const as of [catalogue.root, deputy]) {
          for (const path of [at(id, '/clouds'), '/v1/provider-bundles', at(other, '/versions')]) {
            expect(await codeOf(path, as)).toEqual([400, 'invalid_cursor'])
          }
        }
        expect(await codeOf(at(id, '/versions'), deputy)).toEqual([403, 'cursor_binding_mismatch'])
        expect(await codeOf(at(id, '/versions'), catalogue.root)).toEqual([200, undefined])
      })
    })
  })
})
