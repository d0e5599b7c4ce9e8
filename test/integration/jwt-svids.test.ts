import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { STORES } from '../support/datastores/stores.ts'
import {
  BASE_URL,
  NOW,
  signingKey,
  startWorkloads,
  TOKEN_URL,
  unsigned,
  type SigningKey,
  type Workloads,
} from '../support/sign-in/workloads.ts'

const BUILD = 'spiffe://example.org/ci/build'

describe.each(STORES)('tokens for JWT-SVIDs on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Workloads
    let domainId: string
    let id: string
    let key: SigningKey
    beforeAll(async () => {
      plane = await startWorkloads(store)
      domainId = await plane.domain('acme')
      key = await signingKey('t1', { use: 'jwt-svid' })
      id = await plane.identity(domainId, { spiffe_id: BUILD })
      await believe(domainId, key)
    })
    afterAll(() => plane.stop())

    const believe = async (where: string, ...keys: SigningKey[]) => {
      const jwks = { keys: keys.map(({ publicJwk }) => publicJwk) }
      const answer = await plane.put(where, [{ trust_domain: 'example.org', jwks }])
      expect(answer.status).toBe(200)
    }
    const claims = (over: object = {}) => ({ sub: BUILD, aud: [TOKEN_URL], exp: NOW + 300, iat: NOW, ...over })
    const subjectOf = async ({ body }: Answer) =>
      (await plane.call(String(body['access_token']), 'GET /v1/auth/whoami')).body['subject']
    async function expectRefused(answer: Answer, sentence: RegExp): Promise<void> {
      expect([answer.status, answer.body['code'], answer.body['error'], answer.body['detail']]).toEqual([
        400,
        'invalid_grant',
        'invalid_grant',
        'The code or assertion is unknown, used up, expired or not for this server.',
      ])
      expect(plane.causes.at(-1)).toMatch(sentence)
      expect(await plane.outbox(answer)).toEqual([])
    }

    it('are those of the identity with its SPIFFE ID, hidden and announced', async () => {
      const answer = await plane.jwtBearer(await key.sign(claims()))
      expect([answer.status, answer.body]).toMatchObject([200, { token_type: 'Bearer', expires_in: 3600, scope: '*' }])
      expect(await subjectOf(answer)).toBe(`serviceaccount:${id}`)
      expect(await plane.outbox(answer)).toMatchObject([
        { event: 'APITokenIssued' },
        {
          event: 'identity.ServiceIdentityAuthenticated',
          aggregate: `serviceaccount:${id}`,
          domain_id: domainId,
          payload: { service_identity_id: id, grant: 'jwt-bearer' },
        },
      ])
      const [token] = await plane.db.selectFrom('api_tokens').selectAll().where('owner_id', '=', id).execute()
      expect(token).toMatchObject({ hidden: true, name: 'jwt-bearer' })
    })

    it('are given again for one without jti, which its agent hands out again, and once for one with it', async () => {
      const svid = await key.sign(claims({ exp: NOW + 299 }))
      expect((await plane.jwtBearer(svid)).status).toBe(200)
      expect((await plane.jwtBearer(svid)).status).toBe(200)
      const single = await key.sign(claims({ jti: 'svid-1' }))
      const answers = await Promise.all([plane.jwtBearer(single), plane.jwtBearer(single)])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
      await expectRefused(await plane.jwtBearer(single), /used before/)
    })

    it.each(['RS256', 'PS256', 'ES384', 'ES512'])('are given for %s with a key for it', async (alg) => {
      const strong = await signingKey('strong', { alg, use: 'jwt-svid' })
      await believe(domainId, key, strong)
      expect((await plane.jwtBearer(await strong.sign(claims({ aud: BASE_URL })))).status).toBe(200)
    })

    it.each([
      { what: 'another audience', over: { aud: 'https://other.example' }, says: /"aud"/ },
      { what: 'no audience', over: { aud: undefined }, says: /"aud"/ },
      { what: 'an exp that has passed', over: { exp: NOW }, says: /expired|"exp"/ },
      { what: 'no exp', over: { exp: undefined }, says: /"exp"/ },
      { what: 'an exp more than a day ahead', over: { exp: NOW + 86_401 }, says: /too far ahead/ },
      { what: 'an nbf that is to come', over: { nbf: NOW + 31 }, says: /"nbf"/ },
      { what: 'an iat that is to come', over: { iat: NOW + 31 }, says: /iat/ },
      { what: 'a SPIFFE ID that nobody has', over: { sub: `${BUILD}/other` }, says: /no identity has its SPIFFE ID/ },
      { what: 'an ID of another trust domain', over: { sub: 'spiffe://evil.org/ci/build' }, says: /no identity/ },
      { what: 'an ID that is a prefix', over: { sub: 'spiffe://example.org/ci' }, says: /no identity/ },
      { what: 'a subject that is no SPIFFE ID', over: { sub: 'https://example.org/ci/build' }, says: /no SPIFFE ID/ },
      { what: 'a subject that is no text', over: { sub: [BUILD] }, says: /no SPIFFE ID/ },
    ])('are refused for $what', async ({ over, says }) => {
      await believe(domainId, key)
      await expectRefused(await plane.jwtBearer(await key.sign(claims(over))), says)
    })

    it.each([
      { what: 'the alg none', make: async () => unsigned({ alg: 'none', kid: 't1' }, claims()), says: /algorithm/ },
      { what: 'HS256 under the public key', make: () => underPublicKey(), says: /algorithm/ },
      {
        what: 'Ed25519',
        make: async () => (await signingKey('t1', { alg: 'Ed25519' })).sign(claims()),
        says: /algorithm/,
      },
      { what: 'no kid', make: () => key.sign(claims(), { kid: undefined }), says: /no kid/ },
      { what: 'an unknown kid', make: () => key.sign(claims(), { kid: 't9' }), says: /no key with its kid/ },
      { what: 'a key of another', make: async () => (await signingKey('t1')).sign(claims()), says: /signature/ },
      { what: 'another typ', make: () => key.sign(claims(), { typ: 'at+jwt' }), says: /typ/ },
      {
        what: 'a jku',
        make: async () => (await signingKey('t1')).sign(claims(), { jku: 'https://evil.example/keys' }),
        says: /signature/,
      },
      { what: 'something that is no JWT', make: async () => 'nonsense', says: /no JWT/ },
    ])('are refused for $what', async ({ make, says }) => {
      await believe(domainId, key)
      await expectRefused(await plane.jwtBearer(await make()), says)
      expect(plane.asked).toEqual([])
    })

    const underPublicKey = async () => {
      const { kid: _, use: __, ...jwk } = key.publicJwk
      const imported = await importJWK(jwk, 'ES256', { extractable: true })
      if (imported instanceof Uint8Array) throw new Error('symmetric')
      const secret = Buffer.from(await exportSPKI(imported))
      return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 't1' }).sign(secret)
    }

    it('follow the keys of the bundle: new ones count at once, withdrawn ones no longer', async () => {
      const next = await signingKey('t2', { use: 'jwt-svid' })
      await believe(domainId, key, next)
      expect((await plane.jwtBearer(await next.sign(claims()))).status).toBe(200)
      await believe(domainId, next)
      await expectRefused(await plane.jwtBearer(await key.sign(claims())), /no key with its kid/)
      await believe(domainId, key)
    })

    it('are refused where a Domain has the identity and no bundle, or the bundle of another trust domain', async () => {
      const elsewhere = await plane.domain()
      await plane.identity(elsewhere, { spiffe_id: 'spiffe://example.org/elsewhere' })
      const svid = await key.sign(claims({ sub: 'spiffe://example.org/elsewhere' }))
      await expectRefused(await plane.jwtBearer(svid), /no identity has its SPIFFE ID and a trust bundle/)
      await plane.put(elsewhere, [{ trust_domain: 'other.org', jwks: { keys: [key.publicJwk] } }])
      await expectRefused(await plane.jwtBearer(svid), /no identity has its SPIFFE ID and a trust bundle/)
    })

    it('never cross Domains: the keys that one believes make nobody in another', async () => {
      const hostile = await plane.domain()
      const forged = await signingKey('t1', { use: 'jwt-svid' })
      await believe(hostile, forged)
      await expectRefused(await plane.jwtBearer(await forged.sign(claims())), /signature/)
      const squatter = await plane.identity(hostile, { spiffe_id: BUILD })
      expect(await subjectOf(await plane.jwtBearer(await forged.sign(claims())))).toBe(`serviceaccount:${squatter}`)
      expect(await subjectOf(await plane.jwtBearer(await key.sign(claims())))).toBe(`serviceaccount:${id}`)
    })

    it('are refused where several Domains believe it, unless the caller says which identity it means', async () => {
      const shared = await signingKey('shared', { use: 'jwt-svid' })
      const [here, there] = [await plane.domain(), await plane.domain()]
      await believe(here, shared)
      await believe(there, shared)
      const sub = 'spiffe://example.org/shared'
      const [one, two] = [
        await plane.identity(here, { spiffe_id: sub }),
        await plane.identity(there, { spiffe_id: sub }),
      ]
      const svid = await shared.sign(claims({ sub }))
      await expectRefused(await plane.jwtBearer(svid), /several Domains/)
      expect(await subjectOf(await plane.jwtBearer(svid, { client_id: one }))).toBe(`serviceaccount:${one}`)
      expect(await subjectOf(await plane.jwtBearer(svid, { client_id: two }))).toBe(`serviceaccount:${two}`)
      await expectRefused(await plane.jwtBearer(svid, { client_id: id }), /no identity/)
      await expectRefused(await plane.jwtBearer(svid, { client_id: 'ctl' }), /client_id is no id/)
    })

    it('belong to one identity of a Domain: a SPIFFE ID that is taken there is refused', async () => {
      const body = { display_name: 'Again', subject: 'again', spiffe_id: BUILD }
      const answer = await plane.call(plane.root, `POST /v1/domains/${domainId}/service-identities`, body)
      expect([answer.status, answer.body['code']]).toEqual([409, 'service_identity_already_exists'])
    })

    it('are refused to an identity that is disabled', async () => {
      const gone = await plane.identity(domainId, { spiffe_id: 'spiffe://example.org/gone' })
      await plane.db.updateTable('principals').set({ disabled_at: new Date() }).where('id', '=', gone).execute()
      await expectRefused(
        await plane.jwtBearer(await key.sign(claims({ sub: 'spiffe://example.org/gone' }))),
        /no identity/,
      )
    })

    it('are refused with a client assertion beside it, and without an assertion for its absence', async () => {
      const svid = await key.sign(claims())
      await expectRefused(await plane.jwtBearer(svid, { client_assertion: svid }), /does not go with this grant/)
      const none = await plane.jwtBearer(svid, { assertion: undefined })
      expect([none.status, none.body['code'], none.body['error']]).toEqual([400, 'invalid_body', 'invalid_request'])
    })
  })
})
