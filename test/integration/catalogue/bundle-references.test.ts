import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INLINE, pack, packs, startCatalogue, type Catalogue } from '../../support/server/catalogue.ts'
import { isEngineMissing } from '../../support/authz/engines.ts'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'
import { POSTGRES, STORES, type TestStore } from '../../support/datastores/stores.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

const WORLDS = [
  ...STORES.map((store) => ({ store, engine: 'embedded' as const })),
  { store: POSTGRES, engine: 'spicedb' as const },
]

describe.each(WORLDS)('References to bundles on the $store.name store with the $engine engine', ({ store, engine }) => {
  describe.skipIf(store.missing || isEngineMissing(engine))('served over HTTP', () => {
    let catalogue: Catalogue
    let stop: () => Promise<void>
    beforeAll(async () => {
      ;({ catalogue, stop } = await start(store, engine))
    }, 180_000)
    afterAll(() => stop())

    const patch = (id: string, body: unknown, as = catalogue.root) => catalogue.call(as, `PATCH /v1/clouds/${id}`, body)
    const wordOf = ({ status, body }: { status: number; body: Readonly<Record<string, unknown>> }) =>
      typeof body['code'] === 'string' ? body['code'] : String(status)
    /** A Cloud that is pinned to version 1 of a bundle of so many versions. */
    const pinned = async (versions: number) => {
      const bundle = await catalogue.bundle()
      await catalogue.publish(bundle, versions)
      return { bundle, cloud: await catalogue.cloud({ provider_bundle_id: bundle, provider_bundle_version: 1 }) }
    }
    const managerOf = (cloud: string) => catalogue.holder(catalogue.home, 'admin', `cloud:${cloud}`)
    const observe = async (subject: string, bundle: string) => {
      const role = { subject, relation: 'viewer', resource: `provider_bundle:${bundle}` }
      await catalogue.change(({ tuples }) => tuples.create(role, { domainId: null, projectId: null }))
    }

    describe('the second check', () => {
      it('gives a manager of the Cloud one refusal for a forbidden and for an unknown bundle, before any rule of the bundle', async () => {
        const { cloud } = await pinned(1)
        const manager = await managerOf(cloud)
        const forbidden = await catalogue.bundle({ provider: 'aws' })
        for (const bundle of [forbidden, UNKNOWN]) {
          const answer = await patch(cloud, { provider_bundle_id: bundle, provider_bundle_version: 99 }, manager)
          expect(answer.status).toBe(403)
          expect({ ...answer.body, correlation_id: 'x' }).toEqual({
            type: '/problems/permission-denied',
            title: 'Permission denied',
            status: 403,
            detail: 'The caller lacks the relation that this operation needs.',
            code: 'permission_denied',
            correlation_id: 'x',
            reason: 'insufficient_relation',
            missing_relation: { object: `provider_bundle:${bundle}`, relation: 'observe', subject: manager },
            relation_path: ['manage', 'admin', 'platform', 'auditor', 'viewer'],
          })
          expect(await catalogue.audit(answer)).toMatchObject({
            relation: 'cloud.update',
            outcome: 'permission_denied',
            reason: 'insufficient_relation',
          })
        }
      })

      it('asks for a promotion too, about the bundle that the Cloud has, and not for overrides or the way back', async () => {
        const { bundle, cloud } = await pinned(2)
        const manager = await managerOf(cloud)
        const refused = await patch(cloud, { provider_bundle_version: 2 }, manager)
        expect(wordOf(refused)).toBe('permission_denied')
        expect(refused.body['missing_relation']).toEqual({
          object: `provider_bundle:${bundle}`,
          relation: 'observe',
          subject: manager,
        })
        expect(wordOf(await patch(cloud, { provider_bundle_version: 9 }, manager))).toBe('permission_denied')
        expect(wordOf(await patch(cloud, { provider_package_overrides: [pack('x')] }, manager))).toBe('200')
        await observe(manager, bundle)
        expect(wordOf(await patch(cloud, { provider_bundle_version: 2 }, manager))).toBe('200')
        expect(wordOf(await patch(cloud, { provider_bundle_version: 9 }, manager))).toBe(
          'provider_bundle_version_not_found',
        )
        expect(wordOf(await patch(cloud, INLINE, manager))).toBe('200')
      })

      it('is passed with manage on the platform alone, also for a bundle whose grants are not written', async () => {
        const cloud = await catalogue.cloud()
        const sent = { slug: 'no-grants', display_name: 'B', provider: 'hetzner', ...INLINE }
        const made = await catalogue.call(catalogue.root, 'POST /v1/provider-bundles', sent)
        const bundle = String(made.body['id'])
        const manager = await managerOf(cloud)
        expect(wordOf(await patch(cloud, { provider_bundle_id: bundle }, manager))).toBe('permission_denied')
        expect(wordOf(await patch(cloud, { provider_bundle_id: bundle }))).toBe('200')
        expect(wordOf(await patch(cloud, { provider_bundle_id: UNKNOWN }))).toBe('unknown_provider_bundle')
      })

      it('comes after the mode and the shapes', async () => {
        const cloud = await catalogue.cloud()
        const manager = await managerOf(cloud)
        const bundle = await catalogue.bundle()
        const codeOf = async (body: unknown) => wordOf(await patch(cloud, body, manager))
        expect(await codeOf({ provider_bundle_version: 1 })).toBe('invalid_cloud_provider_mode')
        expect(await codeOf({ provider_bundle_id: bundle, display_name: '' })).toBe('invalid_cloud')
        expect(await codeOf({ provider_bundle_id: bundle, endpoint: { api_url: 'x' } })).toBe('invalid_cloud')
        expect(await codeOf({ provider_bundle_id: bundle })).toBe('permission_denied')
      })
    })

    describe('races', () => {
      it('let one of 20 promotions at once win per reference that was read; the others are told that it moved', async () => {
        const { cloud } = await pinned(8)
        const versions = Array.from({ length: 20 }, (_, index) => (index % 7) + 2)
        const answers = await Promise.all(versions.map((version) => patch(cloud, { provider_bundle_version: version })))
        const words = answers.map(wordOf)
        expect(words.filter((word) => word !== '200' && word !== 'provider_bundle_reference_moved')).toEqual([])
        expect(words).toContain('200')
        const last = Number((await catalogue.shown(cloud))['provider_bundle_version'])
        const won = answers.filter(({ status }) => status === 200).map(({ body }) => body['provider_bundle_version'])
        expect(won).toContain(last)
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          expect(await catalogue.outbox(answer)).toEqual([])
        }
      })

      it('refuse overrides of a reference that moved in between', async () => {
        for (let round = 0; round < 6; round++) {
          const { cloud } = await pinned(2)
          const overrides = { provider_package_overrides: [pack('x')] }
          const [promoted, overridden] = await Promise.all([
            patch(cloud, { provider_bundle_version: 2 }),
            patch(cloud, overrides),
          ])
          expect(wordOf(promoted)).toBe('200')
          expect(['200', 'provider_bundle_reference_moved']).toContain(wordOf(overridden))
          const shown = await catalogue.shown(cloud)
          expect(shown['provider_bundle_version']).toBe(2)
          expect(shown['provider_packages']).toHaveLength(wordOf(overridden) === '200' ? 2 : 1)
        }
      })

      it('let the last of two sets of overrides win, whole', async () => {
        const { cloud } = await pinned(1)
        const sets = Array.from({ length: 20 }, (_, index) => [pack(`x${index}`), pack(`y${index}`)])
        const answers = await Promise.all(sets.map((set) => patch(cloud, { provider_package_overrides: set })))
        expect(answers.map(wordOf)).toEqual(sets.map(() => '200'))
        const { package_overrides: stored } = await catalogue.db
          .selectFrom('clouds')
          .select('package_overrides')
          .where('id', '=', cloud)
          .executeTakeFirstOrThrow()
        expect(sets).toContainEqual(stored)
      })

      it('never leave more than 16 packages in effect', async () => {
        for (let round = 0; round < 6; round++) {
          const bundle = await catalogue.bundle({ provider_packages: packs(1) })
          const grown = { provider_packages: packs(10) }
          await catalogue.call(catalogue.root, `PATCH /v1/provider-bundles/${bundle}`, grown)
          const cloud = await catalogue.cloud({ provider_bundle_id: bundle, provider_bundle_version: 1 })
          const overrides = Array.from({ length: 10 }, (_, index) => pack(`x${index}`))
          const answers = await Promise.all([
            patch(cloud, { provider_bundle_version: 2 }),
            patch(cloud, { provider_package_overrides: overrides }),
          ])
          expect([
            ['200', 'invalid_cloud'],
            ['200', 'provider_bundle_reference_moved'],
            ['invalid_cloud', '200'],
          ]).toContainEqual(answers.map(wordOf))
          expect((await catalogue.shown(cloud))['provider_packages']).toHaveLength(
            wordOf(answers[0]) === '200' ? 10 : 11,
          )
        }
      })

      it('between a mode switch and a patch of the old mode end in one mode', async () => {
        for (let round = 0; round < 6; round++) {
          const { bundle, cloud } = await pinned(1)
          const inline = round % 2 === 0
          if (inline) await patch(cloud, INLINE)
          const [switched, patched] = await Promise.all([
            patch(cloud, inline ? { provider_bundle_id: bundle } : INLINE),
            patch(cloud, inline ? { provider_config_api_version: 'v9' } : { provider_package_overrides: [pack('x')] }),
          ])
          expect(wordOf(switched)).toBe('200')
          expect(['200', 'provider_bundle_reference_moved', 'invalid_cloud_provider_mode']).toContain(wordOf(patched))
          const shown = await catalogue.shown(cloud)
          expect('provider_bundle_id' in shown).toBe(inline)
        }
      })
    })
  })
})

async function start(store: TestStore, engine: 'embedded' | 'spicedb') {
  const server: SpicedbServer | undefined = engine === 'spicedb' ? await startSpicedb() : undefined
  const catalogue = await startCatalogue(store, server)
  return {
    catalogue,
    async stop() {
      await catalogue.stop()
      await server?.close()
    },
  }
}
