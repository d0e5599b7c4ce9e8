import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBundleRefresher } from '../../src/server/slices/workloads/bundle-refresher.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import {
  NOW,
  signingKey,
  startWorkloads,
  TOKEN_URL,
  type SigningKey,
  type Workloads,
} from '../support/sign-in/workloads.ts'

const URL_OF_BUNDLE = 'https://spire.example/bundle'
const X509_KEY = { kty: 'EC', use: 'x509-svid', crv: 'P-256', x: 'AA', y: 'AA', x5c: ['AA'] }
const SECOND = 1000

describe.each(STORES)('trust bundles on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Workloads
    let domainId: string
    let key: SigningKey
    let next: SigningKey
    beforeAll(async () => {
      plane = await startWorkloads(store)
      key = await signingKey('t1', { use: 'jwt-svid' })
      next = await signingKey('t2', { use: 'jwt-svid' })
    })
    afterAll(() => plane.stop())
    beforeEach(async () => {
      plane.clock.nowMs = START_MS
      plane.endpoints.clear()
      plane.asked.length = 0
      domainId = await plane.domain()
    })

    const at = (ms: number) => new Date(ms).toISOString()
    const bundleOf = (...keys: object[]) => ({ keys, spiffe_sequence: 1, spiffe_refresh_hint: 120 })
    const fromEndpoint = { trust_domain: 'example.org', bundle_url: URL_OF_BUNDLE }
    const list = async () => (await plane.call(plane.root, `GET /v1/domains/${domainId}/trust-bundles`)).body
    const only = async () => ((await list())['bundles'] as Record<string, unknown>[])[0]
    const refresh = () => {
      const clock = { now: () => plane.clock.nowMs }
      const job = createBundleRefresher({
        ...plane,
        clock,
        onFailure: (error) => void plane.causes.push(String(error)),
      })
      return job.run(unfenced(plane))
    }

    it('are none at first, and shown as they were given, by name', async () => {
      expect(await list()).toEqual({ bundles: [] })
      const put = await plane.put(domainId, [
        { trust_domain: 'b.example', jwks: { keys: [key.publicJwk, X509_KEY] } },
        { trust_domain: 'a.example', jwks: { keys: [next.publicJwk] } },
      ])
      const given = { bundle_url: null, allow_private_network: false, refreshed_at: null, refresh_failed_since: null }
      expect([put.status, put.body]).toEqual([
        200,
        {
          bundles: [
            { trust_domain: 'a.example', key_ids: ['t2'], ...given, updated_at: at(START_MS) },
            { trust_domain: 'b.example', key_ids: ['t1'], ...given, updated_at: at(START_MS) },
          ],
        },
      ])
      expect(await list()).toEqual(put.body)
      expect(await plane.audit(put)).toMatchObject({
        relation: 'trust_bundle.replace',
        object: `domain:${domainId}`,
        outcome: 'granted',
      })
      expect((await plane.put(domainId, [])).body).toEqual({ bundles: [] })
      expect(await list()).toEqual({ bundles: [] })
    })

    it.each([
      { what: 'a key without kid', jwks: () => ({ keys: [{ ...key.publicJwk, kid: undefined }] }) },
      { what: 'two keys of one kid', jwks: () => ({ keys: [key.publicJwk, { ...next.publicJwk, kid: 't1' }] }) },
      { what: 'a private key', jwks: () => ({ keys: [{ ...key.publicJwk, d: 'AA' }] }) },
      { what: 'a symmetric key', jwks: () => ({ keys: [{ kty: 'oct', k: 'AA', kid: 'x', use: 'jwt-svid' }] }) },
      { what: 'keys of another use alone', jwks: () => ({ keys: [{ ...key.publicJwk, use: 'sig' }, X509_KEY] }) },
      { what: 'no key', jwks: () => ({ keys: [] }) },
    ])('are refused with $what, and those before stay', async ({ jwks }) => {
      await plane.put(domainId, [{ trust_domain: 'old.example', jwks: { keys: [key.publicJwk] } }])
      const answer = await plane.put(domainId, [{ trust_domain: 'example.org', jwks: jwks() }])
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_trust_bundle'])
      expect(await only()).toMatchObject({ trust_domain: 'old.example' })
    })

    it.each([
      { what: 'both a URL and keys', bundle: { bundle_url: URL_OF_BUNDLE, jwks: { keys: [] } } },
      { what: 'neither', bundle: {} },
      { what: 'a URL without TLS', bundle: { bundle_url: 'http://spire.example/bundle' } },
      { what: 'a trust domain in capitals', bundle: { bundle_url: URL_OF_BUNDLE, trust_domain: 'EXAMPLE.org' } },
    ])('are refused with $what', async ({ bundle }) => {
      const answer = await plane.put(domainId, [{ trust_domain: 'example.org', ...bundle }])
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_trust_bundle'])
      expect(plane.asked).toEqual([])
    })

    it('are refused when a trust domain is named twice', async () => {
      const answer = await plane.put(domainId, [fromEndpoint, { ...fromEndpoint, bundle_url: `${URL_OF_BUNDLE}/2` }])
      expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_trust_bundle'])
    })

    it('take manage on the Domain', async () => {
      const viewer = await plane.holder(domainId, 'viewer', `domain:${domainId}`)
      for (const [operation, body] of [
        [`GET /v1/domains/${domainId}/trust-bundles`],
        [`PUT /v1/domains/${domainId}/trust-bundles`, { bundles: [] }],
      ] as const) {
        const answer = await plane.call(viewer, operation, body)
        expect([answer.status, answer.body['code']]).toEqual([403, 'permission_denied'])
      }
    })

    it('are fetched as they are set, and again when their hint says so, not before', async () => {
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk, X509_KEY))
      const put = await plane.put(domainId, [fromEndpoint])
      expect(put.body).toMatchObject({
        bundles: [{ key_ids: ['t1'], refreshed_at: at(START_MS), refresh_failed_since: null }],
      })
      plane.clock.nowMs = START_MS + 119 * SECOND
      await refresh()
      expect(plane.asked).toHaveLength(1)
      plane.clock.nowMs = START_MS + 120 * SECOND
      await refresh()
      expect(plane.asked).toHaveLength(2)
      expect(await only()).toMatchObject({ refreshed_at: at(START_MS + 120 * SECOND), updated_at: at(START_MS) })
    })

    it.each([
      { hint: 1, seconds: 60 },
      { hint: undefined, seconds: 300 },
      { hint: 'soon', seconds: 300 },
      { hint: 1e9, seconds: 86_400 },
    ])('with the hint $hint are due in $seconds s', async ({ hint, seconds }) => {
      plane.endpoints.set(URL_OF_BUNDLE, { keys: [key.publicJwk], spiffe_refresh_hint: hint })
      await plane.put(domainId, [fromEndpoint])
      const row = await plane.db
        .selectFrom('trust_bundles')
        .select('refresh_due_at')
        .where('domain_id', '=', domainId)
        .executeTakeFirstOrThrow()
      expect(row.refresh_due_at).toEqual(new Date(START_MS + seconds * SECOND))
    })

    it('rotate: a new key counts from the next refresh on, one that was withdrawn no longer', async () => {
      const sub = 'spiffe://example.org/rotating'
      await plane.identity(domainId, { spiffe_id: sub })
      const statusOf = async (by: SigningKey) => {
        const exp = NOW + 3600
        return (await plane.jwtBearer(await by.sign({ sub, aud: TOKEN_URL, exp }))).status
      }
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk))
      await plane.put(domainId, [fromEndpoint])
      expect([await statusOf(key), await statusOf(next)]).toEqual([200, 400])
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk, next.publicJwk))
      plane.clock.nowMs += 120 * SECOND
      await refresh()
      expect([await statusOf(key), await statusOf(next)]).toEqual([200, 200])
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(next.publicJwk))
      plane.clock.nowMs += 120 * SECOND
      await refresh()
      expect([await statusOf(key), await statusOf(next)]).toEqual([400, 200])
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf())
      plane.clock.nowMs += 120 * SECOND
      await refresh()
      expect([await statusOf(key), await statusOf(next)]).toEqual([400, 400])
    })

    it.each([
      { what: 'cannot be reached', served: undefined, says: /cannot be reached/ },
      { what: 'serves no JSON', served: '<html>', says: /JSON/ },
      { what: 'serves something else', served: { keys: 'none' }, says: /array/ },
      {
        what: 'serves a private key',
        served: { keys: [{ kty: 'EC', crv: 'P-256', use: 'jwt-svid', kid: 'p', d: 'A' }] },
        says: /public/,
      },
    ])('keep their keys while the endpoint $what, and say since when', async ({ served, says }) => {
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk))
      await plane.put(domainId, [fromEndpoint])
      if (served === undefined) plane.endpoints.clear()
      else plane.endpoints.set(URL_OF_BUNDLE, served)
      plane.clock.nowMs = START_MS + 120 * SECOND
      await refresh()
      expect(plane.causes.at(-1)).toMatch(says)
      const failed = { key_ids: ['t1'], refreshed_at: at(START_MS), refresh_failed_since: at(START_MS + 120 * SECOND) }
      expect(await only()).toMatchObject(failed)
      plane.clock.nowMs = START_MS + 180 * SECOND
      await refresh()
      expect(await only()).toMatchObject(failed)
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(next.publicJwk))
      plane.clock.nowMs = START_MS + 240 * SECOND
      await refresh()
      expect(await only()).toMatchObject({ key_ids: ['t2'], refresh_failed_since: null })
    })

    it('are stored though their endpoint cannot be reached; of a known one the keys stay', async () => {
      const first = await plane.put(domainId, [fromEndpoint])
      expect(first.body).toMatchObject({
        bundles: [{ key_ids: [], refreshed_at: null, refresh_failed_since: at(START_MS) }],
      })
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk))
      await plane.put(domainId, [fromEndpoint])
      plane.endpoints.clear()
      plane.clock.nowMs += SECOND
      const again = await plane.put(domainId, [fromEndpoint])
      expect(again.body).toMatchObject({
        bundles: [{ key_ids: ['t1'], refreshed_at: at(START_MS), refresh_failed_since: at(START_MS + SECOND) }],
      })
      const elsewhere = await plane.put(domainId, [{ ...fromEndpoint, bundle_url: 'https://new.example/bundle' }])
      expect(elsewhere.body).toMatchObject({ bundles: [{ key_ids: [], refreshed_at: null }] })
    })

    it('that were set while their endpoint was asked stay as they were set', async () => {
      plane.endpoints.set(URL_OF_BUNDLE, bundleOf(key.publicJwk))
      await plane.put(domainId, [fromEndpoint])
      plane.clock.nowMs += 120 * SECOND
      const setMeanwhile: Workloads['outgoingFetch'] = async (...asked) => {
        await plane.put(domainId, [{ trust_domain: 'example.org', jwks: { keys: [next.publicJwk] } }])
        return plane.outgoingFetch(...asked)
      }
      const clock = { now: () => plane.clock.nowMs }
      const job = createBundleRefresher({ ...plane, outgoingFetch: setMeanwhile, clock, onFailure: () => undefined })
      await job.run(unfenced(plane))
      expect(await only()).toMatchObject({ bundle_url: null, key_ids: ['t2'] })
    })
  })
})
