import { randomUUID } from 'node:crypto'
import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAssertionSweeper } from '../../src/server/slices/workloads/assertion-sweeper.ts'
import { JWT_BEARER_ASSERTION } from '../../src/shared/contract/oauth-schemas.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { EMBEDDED, STORES } from '../support/datastores/stores.ts'
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

describe.each(STORES)('tokens for client assertions on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Workloads
    let domainId: string
    let key: SigningKey
    let other: SigningKey
    let id: string
    beforeAll(async () => {
      plane = await startWorkloads(store)
      domainId = await plane.domain('acme')
      key = await signingKey('k1')
      other = await signingKey('k2')
      id = await plane.identity(domainId, { jwks: { keys: [key.publicJwk, other.publicJwk] } })
    })
    afterAll(() => plane.stop())

    const claims = (over: object = {}) => ({
      iss: id,
      sub: id,
      aud: TOKEN_URL,
      jti: randomUUID(),
      iat: NOW,
      exp: NOW + 60,
      ...over,
    })
    const without = (name: string) => {
      const { [name]: _, ...rest } = claims() as Record<string, unknown>
      return rest
    }
    const whoami = ({ body }: Answer) => plane.call(String(body['access_token']), 'GET /v1/auth/whoami')
    const tokensOf = (owner: string) =>
      plane.db.selectFrom('api_tokens').selectAll().where('owner_id', '=', owner).execute()
    /** Refused like every other one, with its own sentence in the log, and nothing made. */
    async function expectRefused(answer: Answer, sentence: RegExp): Promise<void> {
      const { correlation_id: _, ...body } = answer.body
      expect([answer.status, body]).toEqual([
        400,
        {
          type: expect.stringContaining('invalid-client'),
          title: 'Invalid client',
          status: 400,
          code: 'invalid_client',
          detail: 'The client assertion does not prove a service identity.',
          error: 'invalid_client',
        },
      ])
      expect(plane.causes.at(-1)).toMatch(sentence)
      expect(await plane.outbox(answer)).toEqual([])
    }

    it('are API tokens of an hour that no list shows, announced and audited as the identity', async () => {
      const answer = await plane.clientCredentials(await key.sign(claims()))
      expect(plane.signIns).toEqual([{ id, atMs: NOW * 1000 }])
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          access_token: expect.stringMatching(/^psk_test_[0-9a-f]{32}_[0-9A-Za-z]{49}$/),
          token_type: 'Bearer',
          expires_in: 3600,
          scope: '*',
        },
      ])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const me = await whoami(answer)
      expect(me.body).toMatchObject({
        subject: `serviceaccount:${id}`,
        kind: 'service-identity',
        domain_id: domainId,
        credential: { type: 'api-token', scopes: ['*'], expires_at: '2026-03-01T09:00:00.000Z' },
      })
      const list = await plane.call(String(answer.body['access_token']), 'GET /v1/auth/tokens')
      expect(list.body).toEqual([])
      const [row] = await tokensOf(id)
      expect(row).toMatchObject({ hidden: true, name: 'client_credentials' })
      expect(await plane.outbox(answer)).toMatchObject([
        { event: 'APITokenIssued', aggregate: `token:${row?.id}` },
        {
          event: 'identity.ServiceIdentityAuthenticated',
          aggregate: `serviceaccount:${id}`,
          domain_id: domainId,
          payload: { service_identity_id: id, grant: 'client_credentials', token_id: row?.id },
        },
      ])
      expect(await plane.audit(answer)).toEqual({
        relation: 'auth.service_token.issue',
        object: `serviceaccount:${id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId,
      })
    })

    it.each([
      { what: 'the base URL', over: { aud: BASE_URL } },
      { what: 'several audiences', over: { aud: ['https://other.example', TOKEN_URL] } },
      { what: 'no iat', over: { iat: undefined } },
      { what: 'an nbf that is 30 s ahead', over: { nbf: NOW + 30 } },
      { what: 'an exp 300 s ahead', over: { exp: NOW + 300 } },
    ])('are given for an assertion with $what', async ({ over }) => {
      expect((await plane.clientCredentials(await key.sign(claims(over)))).status).toBe(200)
    })

    it('are refused for a client secret, with a sentence that is of forms too', async () => {
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: 'x' })
      const answer = await fetch(`${plane.url}/v1/auth/service/token`, { method: 'POST', body: form })
      expect(await answer.json()).toMatchObject({
        code: 'invalid_body',
        detail: 'The request body is not JSON, or a form where one is taken, of the documented shape.',
        errors: [{ pointer: '/client_secret' }],
      })
    })

    it('are given for a form, as OAuth clients send it', async () => {
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: JWT_BEARER_ASSERTION,
        client_assertion: await key.sign(claims()),
        client_id: id,
        scope: '',
      })
      const answer = await fetch(`${plane.url}/v1/auth/service/token`, { method: 'POST', body: form })
      expect([answer.status, await answer.json()]).toMatchObject([200, { scope: '*' }])
    })

    it.each(['RS256', 'PS384', 'ES384', 'ES512', 'Ed25519'])('are given for %s with a key for it', async (alg) => {
      const strong = await signingKey('strong', { alg })
      const owner = await plane.identity(domainId, { jwks: { keys: [strong.publicJwk] } })
      const answer = await plane.clientCredentials(await strong.sign(claims({ iss: owner, sub: owner })))
      expect(answer.status).toBe(200)
    })

    it('take the scopes that were asked for, and no others', async () => {
      const narrow = await plane.clientCredentials(await key.sign(claims()), { scope: 'nodes:read audit:read' })
      expect([narrow.status, narrow.body['scope']]).toEqual([200, 'nodes:read audit:read'])
      expect(await whoami(narrow)).toMatchObject({
        status: 200,
        body: { credential: { scopes: ['nodes:read', 'audit:read'] } },
      })
    })

    it.each(['nonsense:read', 'nodes', 'nodes:admin', '* root'])(
      'refuse the scope "%s", and the assertion stays good',
      async (scope) => {
        const assertion = await key.sign(claims())
        const answer = await plane.clientCredentials(assertion, { scope })
        expect([answer.status, answer.body['code'], answer.body['error']]).toEqual([
          400,
          'invalid_scope',
          'invalid_scope',
        ])
        expect((await plane.clientCredentials(assertion)).status).toBe(200)
      },
    )

    it('are given once for an assertion, also to one of two at the same time', async () => {
      const assertion = await key.sign(claims())
      const before = (await tokensOf(id)).length
      const answers = await Promise.all(Array.from({ length: 5 }, () => plane.clientCredentials(assertion)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
      await expectRefused(await plane.clientCredentials(assertion), /^it was used before by serviceaccount:/)
      expect(await tokensOf(id)).toHaveLength(before + 1)
      const again = await key.sign(claims({ jti: 'one' }))
      const same = await other.sign(claims({ jti: 'one', exp: NOW + 61 }))
      expect((await plane.clientCredentials(again)).status).toBe(200)
      await expectRefused(await plane.clientCredentials(same), /^it was used before by serviceaccount:/)
    })

    it.each([
      { what: 'an audience of another server', over: { aud: 'https://other.example' }, says: /"aud"/ },
      { what: 'an audience that only begins like ours', over: { aud: `${BASE_URL}.evil.example` }, says: /"aud"/ },
      { what: 'an audience with a slash too much', over: { aud: `${BASE_URL}/` }, says: /"aud"/ },
      { what: 'an audience that is no text', over: { aud: [{}] }, says: /"aud"/ },
      { what: 'another issuer', over: { iss: 'https://issuer.example' }, says: /iss and sub/ },
      {
        what: 'a subject that nobody is',
        over: { sub: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b' },
        says: /no such service/,
      },
      { what: 'a subject that is no id', over: { sub: "' or 1=1" }, says: /no id of a service identity/ },
      { what: 'a subject that is no text', over: { sub: 7 }, says: /no id of a service identity/ },
      { what: 'an exp that has passed', over: { exp: NOW }, says: /expired|"exp"/ },
      { what: 'an exp a second ago', over: { exp: NOW - 1 }, says: /expired/ },
      { what: 'an exp more than 5 minutes ahead', over: { exp: NOW + 301 }, says: /too far ahead/ },
      { what: 'an exp at the end of time', over: { exp: 1e308 }, says: /too far ahead/ },
      { what: 'an exp that is no number', over: { exp: '2030' }, says: /"exp" claim must be a number/ },
      { what: 'an nbf that is to come', over: { nbf: NOW + 31 }, says: /"nbf"/ },
      { what: 'an iat that is to come', over: { iat: NOW + 31 }, says: /iat is in the future/ },
      { what: 'a jti that is no text', over: { jti: 7 }, says: /jti is no text/ },
      { what: 'an empty jti', over: { jti: '' }, says: /jti is no text/ },
    ])('are refused for $what', async ({ over, says }) => {
      await expectRefused(await plane.clientCredentials(await key.sign(claims(over))), says)
    })

    it.each([
      ['iss', /iss and sub/],
      ['sub', /no id of a service identity/],
      ['aud', /missing required "aud"/],
      ['exp', /missing required "exp"/],
      ['jti', /has no jti/],
    ])('are refused without %s', async (name, says) => {
      await expectRefused(await plane.clientCredentials(await key.sign(without(name))), says)
    })

    it.each([
      { what: 'the alg none', make: async () => unsigned({ alg: 'none', kid: 'k1' }, claims()), says: /alg/i },
      {
        what: 'the alg none in capitals and a signature',
        make: async () => unsigned({ alg: 'NONE', kid: 'k1' }, claims(), 'AAAA'),
        says: /alg/i,
      },
      { what: 'HS256 under the public key as text', make: () => underPublicKey('text'), says: /alg/i },
      { what: 'HS256 under the public key as bytes', make: () => underPublicKey('x'), says: /alg/i },
      {
        what: 'the algorithm of another kind of key',
        make: async () => (await signingKey('k1', { alg: 'RS256' })).sign(claims()),
        says: /alg/i,
      },
      { what: "a stranger's key", make: async () => (await signingKey('k1')).sign(claims()), says: /signature/ },
      { what: 'the kid of another key', make: () => key.sign(claims(), { kid: 'k2' }), says: /signature/ },
      { what: 'an unknown kid', make: () => key.sign(claims(), { kid: 'k3' }), says: /no key with its kid/ },
      { what: 'no kid among several keys', make: () => key.sign(claims(), { kid: undefined }), says: /no kid/ },
      { what: 'a kid that is no text', make: () => key.sign(claims(), { kid: 7 }), says: /no key with its kid/ },
      {
        what: 'a typ that is no text',
        make: async () => unsigned({ alg: 'ES256', kid: 'k1', typ: 7 }, claims()),
        says: /typ/,
      },
      { what: 'another typ', make: () => key.sign(claims(), { typ: 'at+jwt' }), says: /typ/ },
      { what: 'a crit that nobody knows', make: () => critical(), says: /crit|Extension/i },
      { what: 'a jwk of its own', make: () => withOwnKey('jwk'), says: /signature/ },
      { what: 'a jku', make: () => withOwnKey('jku'), says: /signature/ },
      { what: 'an x5u', make: () => withOwnKey('x5u'), says: /signature/ },
      { what: 'five parts', make: async () => 'a.b.c.d.e', says: /no JWT/ },
      { what: 'no parts', make: async () => 'nonsense', says: /no JWT/ },
      { what: 'a header that is no object', make: async () => unsigned([], claims()), says: /no JWT/ },
      {
        what: 'claims that are no object',
        make: async () => unsigned({ alg: 'ES256', kid: 'k1' }, []),
        says: /no JWT/,
      },
      {
        what: 'a signature that is cut',
        make: async () => (await key.sign(claims())).slice(0, -4),
        says: /signature/i,
      },
    ])('are refused for $what', async ({ make, says }) => {
      await expectRefused(await plane.clientCredentials(await make()), says)
      expect(plane.asked).toEqual([])
    })

    const underPublicKey = async (as: 'text' | 'x') => {
      const { kid: _, use: __, ...jwk } = key.publicJwk
      const imported = await importJWK(jwk, 'ES256', { extractable: true })
      if (imported instanceof Uint8Array) throw new Error('symmetric')
      const secret = as === 'text' ? Buffer.from(await exportSPKI(imported)) : Buffer.from(String(jwk.x), 'base64url')
      return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret)
    }
    const critical = () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', crit: ['exotic'], exotic: true })
        .sign(key.privateKey, { crit: { exotic: true } })
    const withOwnKey = async (member: 'jwk' | 'jku' | 'x5u') => {
      const own = await signingKey('k1')
      const value = member === 'jwk' ? own.publicJwk : 'https://evil.example/keys'
      return own.sign(claims(), { [member]: value })
    }

    it.each([
      { what: 'another client_assertion_type', more: { client_assertion_type: 'urn:other' }, says: /type is another/ },
      { what: 'a client_id that is another', more: { client_id: 'other' }, says: /client_id is not its sub/ },
      { what: 'no assertion', more: { client_assertion: undefined }, says: /no client_assertion/ },
    ])('are refused for $what', async ({ more, says }) => {
      await expectRefused(await plane.clientCredentials(await key.sign(claims()), more), says)
    })

    it('are refused to a user, to an identity without keys and to one that is disabled', async () => {
      const user = (await plane.principal(domainId, 'user')).slice('user:'.length)
      await plane.db
        .updateTable('principals')
        .set({ jwks: JSON.stringify({ keys: [key.publicJwk] }) })
        .where('id', '=', user)
        .execute()
      const bare = await plane.identity(domainId, {})
      const disabled = await plane.identity(domainId, { jwks: { keys: [key.publicJwk] } })
      await plane.db.updateTable('principals').set({ disabled_at: new Date() }).where('id', '=', disabled).execute()
      for (const [who, says] of [
        [user, /no such service identity/],
        [bare, /the identity has no key$/],
        [disabled, /no such service identity/],
      ] as const) {
        await expectRefused(await plane.clientCredentials(await key.sign(claims({ iss: who, sub: who }))), says)
      }
    })

    it('are refused to whoever presents the assertion of another identity as its own', async () => {
      const mine = await signingKey('mine')
      const own = await plane.identity(domainId, { jwks: { keys: [mine.publicJwk] } })
      await expectRefused(await plane.clientCredentials(await mine.sign(claims({ iss: own }))), /no key with its kid/)
      await expectRefused(await plane.clientCredentials(await mine.sign(claims({ sub: own }))), /iss and sub/)
    })

    it('answer other grants with the code for that', async () => {
      const answer = await plane.call('nobody', 'POST /v1/auth/service/token', { grant_type: 'password' })
      expect([answer.status, answer.body['code'], answer.body['error']]).toEqual([
        400,
        'unsupported_grant_type',
        'unsupported_grant_type',
      ])
    })

    it('forget used assertions when they have expired, not before', async () => {
      await plane.db.deleteFrom('used_assertions').execute()
      await plane.clientCredentials(await key.sign(claims({ exp: NOW + 60 })))
      await plane.clientCredentials(await key.sign(claims({ exp: NOW + 120 })))
      const clock = { now: () => plane.clock.nowMs + 60_000 }
      await createAssertionSweeper({ clock }).run(unfenced(plane))
      const left = await plane.db.selectFrom('used_assertions').select('expires_at').execute()
      expect(left).toEqual([{ expires_at: new Date((NOW + 120) * 1000) }])
    })
  })
})

describe('the limits of tokens for workloads', () => {
  let plane: Workloads
  beforeAll(async () => {
    const rate = { count: 2, seconds: 60 }
    plane = await startWorkloads(EMBEDDED, { serviceTokens: rate, failedCredentials: rate })
  })
  afterAll(() => plane.stop())

  it('count proofs by identity and what proves nothing by address', async () => {
    const key = await signingKey('k1')
    const domainId = await plane.domain('acme')
    const [one, two] = [0, 0].map(() => plane.identity(domainId, { jwks: { keys: [key.publicJwk] } }))
    const ask = async (who: Promise<string> | undefined, with_ = key) => {
      const id = await who
      const claims = { aud: TOKEN_URL, jti: randomUUID(), exp: NOW + 60 }
      const { status, body, headers } = await plane.clientCredentials(
        await with_.sign({ ...claims, iss: String(id), sub: String(id) }),
      )
      return [status, body['code'] ?? 'ok', body['error'] ?? null, headers.get('retry-after')]
    }
    expect(await ask(one)).toEqual([200, 'ok', null, null])
    expect(await ask(one)).toEqual([200, 'ok', null, null])
    expect(await ask(one)).toEqual([429, 'rate_limited', 'temporarily_unavailable', '30'])
    expect(await ask(two)).toEqual([200, 'ok', null, null])
    const stranger = await signingKey('k1')
    expect(await ask(two, stranger)).toEqual([400, 'invalid_client', 'invalid_client', null])
    expect(await ask(two, stranger)).toEqual([400, 'invalid_client', 'invalid_client', null])
    expect(await ask(two, stranger)).toEqual([429, 'rate_limited', 'temporarily_unavailable', '30'])
    expect(await ask(two)).toEqual([200, 'ok', null, null])
  })
})
