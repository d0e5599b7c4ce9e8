import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { addRelease, checksumOfRelease } from '../../support/releases/add-release.ts'
import { attestationOf, standInVerifier } from '../../support/releases/stand-in-verifier.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const NEWEST_FIRST = [
  '10.0.0',
  '2.0.0+build.2',
  '2.0.0+build.1',
  '2.0.0',
  '2.0.0-rc.10',
  '2.0.0-rc.2',
  '2.0.0-alpha',
  '1.9.0',
]

describe.each(STORES)('Releases on the $name store', (store) => {
  describe.skipIf(store.missing)('read over HTTP', () => {
    let tenancy: Tenancy
    let reader: string
    let stranger: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['artifacts'], ports: { releaseVerifier: standInVerifier() } })
      for (const version of NEWEST_FIRST.toSorted()) await addRelease(tenancy.db, version)
      const domainId = await tenancy.domain()
      reader = await tenancy.holder(tenancy.home, 'viewer', 'platform:main')
      stranger = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const read = (as: string, path: string) => tenancy.call(as, `GET /v1/artifacts/plexd${path}`)
    const versionsIn = (body: Readonly<Record<string, unknown>>) =>
      (body['items'] as readonly { readonly version: string }[]).map(({ version }) => version)
    const bytesOf = async (as: string, version: string) => {
      const url = `${tenancy.url}/v1/artifacts/plexd/${version}/sigstore`
      const response = await fetch(url, { headers: { authorization: `Bearer ${as}` } })
      const bytes = Buffer.from(await response.arrayBuffer())
      return { status: response.status, media: response.headers.get('content-type'), bytes }
    }

    it('are listed newest first by precedence, then by version', async () => {
      const { status, body } = await read(reader, '')
      expect(status).toBe(200)
      expect(versionsIn(body)).toEqual(NEWEST_FIRST)
      expect(body).not.toHaveProperty('next_cursor')
      expect((body['items'] as readonly unknown[])[0]).toEqual({
        version: '10.0.0',
        support_status: 'supported',
        verdict: 'verified',
        signed_by: 'https://builder.example/release',
        architectures: [
          { architecture: 'aarch64', checksum: checksumOfRelease('10.0.0', 'aarch64') },
          { architecture: 'x86_64', checksum: checksumOfRelease('10.0.0', 'x86_64') },
        ],
        created_at: '2026-03-01T08:00:00.000Z',
        updated_at: '2026-03-01T08:00:00.000Z',
      })
    })

    it('are listed page by page, with a cursor until the last one', async () => {
      const seen: string[] = []
      let next = ''
      for (let pages = 1; ; pages++) {
        const { body } = await read(reader, `?limit=3${next}`)
        seen.push(...versionsIn(body))
        if (!('next_cursor' in body)) {
          expect(pages).toBe(3)
          break
        }
        next = `&cursor=${encodeURIComponent(String(body['next_cursor']))}`
      }
      expect(seen).toEqual(NEWEST_FIRST)
    })

    it('are listed for those who may read the platform alone, with a cursor of their own', async () => {
      const refused = await read(stranger, '')
      expect([refused.status, refused.body['reason']]).toEqual([403, 'insufficient_relation'])
      const { body } = await read(reader, '?limit=1')
      const foreign = await read(tenancy.root, `?limit=1&cursor=${encodeURIComponent(String(body['next_cursor']))}`)
      expect([foreign.status, foreign.body['code']]).toEqual([403, 'cursor_binding_mismatch'])
    })

    it.each(['9.9.9', '1.9', 'latest', '01.0.0', `1.0.0-${'a'.repeat(200)}`, '..%2F..', '1.9.0%20'])(
      'answer 404 for %s, which is no release',
      async (version) => {
        for (const path of [`/${version}`, `/${version}/sigstore`]) {
          const { status, body } = await read(reader, path)
          expect([status, body['code']]).toEqual([404, 'release_not_found'])
        }
      },
    )

    it('answer the same 404 to those who may not read the platform, audited as a denial', async () => {
      const denied = await read(stranger, '/1.9.0')
      const unknown = await read(reader, '/9.9.9')
      expect({ ...denied.body, correlation_id: '' }).toEqual({ ...unknown.body, correlation_id: '' })
      expect(await tenancy.audit(denied)).toMatchObject({
        relation: 'plexd_artifact.get',
        outcome: 'permission_denied',
        reason: 'insufficient_relation',
      })
    })

    it('give the attestation of the first architecture unchanged, as bytes', async () => {
      expect(await bytesOf(reader, '1.9.0')).toEqual({
        status: 200,
        media: 'application/octet-stream',
        bytes: attestationOf(checksumOfRelease('1.9.0', 'aarch64')),
      })
    })

    it('give the attestation of the first architecture that has one', async () => {
      await addRelease(tenancy.db, '1.1.0', { unverified: 'aarch64: There is no attestation.' })
      await tenancy.db
        .updateTable('release_architectures')
        .set({ bundle: null })
        .where('version', '=', '1.1.0')
        .where('architecture', '=', 'aarch64')
        .execute()
      expect((await bytesOf(reader, '1.1.0')).bytes).toEqual(attestationOf(checksumOfRelease('1.1.0', 'x86_64')))
    })

    it('answer 404 where a release has no attestation, and show why it is unverified', async () => {
      await addRelease(tenancy.db, '1.0.0', { isBare: true, unverified: 'aarch64: There is no attestation.' })
      const { status } = await bytesOf(reader, '1.0.0')
      expect(status).toBe(404)
      const { body } = await read(reader, '/1.0.0')
      expect([body['verdict'], body['verdict_reason'], body['signed_by']]).toEqual([
        'unverified',
        'aarch64: There is no attestation.',
        undefined,
      ])
    })
  })

  describe.skipIf(store.missing)('without signers', () => {
    it('answer 501', async () => {
      const tenancy = await startTenancy(store, { surfaces: ['artifacts'] })
      for (const path of ['', '/1.0.0', '/1.0.0/sigstore']) {
        const { status, body } = await tenancy.call(tenancy.root, `GET /v1/artifacts/plexd${path}`)
        expect([status, body['code']]).toEqual([501, 'artifacts_not_provisioned'])
      }
      await tenancy.stop()
    })
  })
})
