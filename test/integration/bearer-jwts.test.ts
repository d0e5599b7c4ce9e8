import { errors, exportSPKI, importJWK, SignJWT } from 'jose'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBearerJwtResolver } from '../../src/server/slices/bearer-jwts/bearer-jwt-resolver.ts'
import { createMint } from '../../src/server/slices/tokens/mint.ts'
import { createTokens } from '../../src/server/slices/tokens/service.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { DatastoreError } from '../../src/server/ports/datastore.ts'
import type { IdpBinding } from '../../src/server/ports/idp-bindings.ts'
import type { ServiceIdentity } from '../../src/server/ports/service-identities.ts'
import type { User } from '../../src/server/ports/users.ts'
import { tokens } from '../../src/shared/contract/tokens.ts'
import { problem } from '../../src/shared/problems.ts'
import type { Answer } from '../support/server/control-plane.ts'
import type { Backend } from '../../src/server/composition/backend.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'
import { NOW, signingKey, unsigned, type SigningKey } from '../support/sign-in/workloads.ts'

const ISSUER = 'https://idp.example/realm'
const API = 'https://ctl.example/api'
const CLIENT = 'ctl-web'

describe.each(STORES)('bearer JWTs of identity providers on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Tenancy
    let domainId: string
    let person: User
    let key: SigningKey
    let binding: IdpBinding
    /** What the ports of the other slices say; tests change it. */
    const idp = {
      bindings: [] as IdpBinding[],
      users: new Map<string, User>(),
      workloads: new Map<string, ServiceIdentity>(),
      signIns: [] as (readonly [id: string, atMs: number])[],
      keys: new Map<string, SigningKey>(),
      asked: 0,
      failure: undefined as Error | undefined,
      isDown: false,
    }
    const causes: string[] = []

    const parts = ({ datastore, keyring, clock, ...others }: Backend) => {
      const resolver = createBearerJwtResolver({
        datastore,
        keyring,
        clock,
        bindings: {
          async ofIssuer(_db, { issuer, audiences }) {
            if (idp.isDown) throw new DatastoreError('unavailable', undefined, undefined)
            return idp.bindings.filter((one) => one.issuer === issuer && audiences.includes(one.apiAudience ?? ''))
          },
        },
        issuers: {
          async key(_at, header) {
            expect(Object.keys(header).toSorted()).toEqual(header.kid === undefined ? ['alg'] : ['alg', 'kid'])
            idp.asked += 1
            if (idp.failure !== undefined) throw idp.failure
            const found = idp.keys.get(String(header.kid))
            if (found === undefined) throw new errors.JWKSNoMatchingKey()
            const imported = await importJWK(found.publicJwk, header.alg)
            if (imported instanceof Uint8Array) throw new Error('symmetric')
            return imported
          },
        },
        workloads: {
          find: async (_db, domain, { issuer, subject }) => idp.workloads.get(`${domain}|${issuer}|${subject}`),
        },
        workloadSignIns: { note: (id, atMs) => void idp.signIns.push([id, atMs - START_MS]) },
        users: { find: async (_db, domain, { issuer, subject }) => idp.users.get(`${domain}|${issuer}|${subject}`) },
      })
      const log = pino({ level: 'info' }, { write: (line: string) => void causes.push(JSON.parse(line).cause) })
      const mint = createMint({ ...others, keyring, env: 'test' })
      return { surfaces: [mounted(tokens, createTokens({ datastore, mint }))], resolvers: [resolver], log }
    }

    beforeAll(async () => {
      plane = await startTenancy(store, parts)
      key = await signingKey('k1')
    })
    afterAll(() => plane.stop())
    beforeEach(async () => {
      domainId = await plane.domain()
      const id = (await plane.principal(domainId)).slice('user:'.length)
      person = { id, domainId, displayName: 'Ada', email: null, isDisabled: false }
      binding = bindingOf(domainId)
      idp.bindings = [binding]
      idp.users = new Map([[`${domainId}|${ISSUER}|ada`, person]])
      idp.workloads = new Map()
      idp.signIns = []
      idp.keys = new Map([['k1', key]])
      idp.asked = 0
    })
    afterEach(() => {
      plane.clock.nowMs = START_MS
      idp.failure = undefined
      idp.isDown = false
    })

    const bindingOf = (domain: string | null, over: Partial<IdpBinding> = {}): IdpBinding => ({
      id: plane.ids.next(),
      domainId: domain,
      alias: 'corporate',
      label: 'Corporate',
      issuer: ISSUER,
      clientId: CLIENT,
      isConfidential: true,
      apiAudience: API,
      algorithms: ['ES256'],
      claims: { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null },
      requiredAcr: [],
      requiredAmr: [],
      isPrimary: true,
      autoProvision: null,
      allowPrivateNetwork: false,
      isBundled: false,
      signsIn: true,
      ...over,
    })
    let serial = 0
    const claims = (over: object = {}): Record<string, unknown> => {
      serial += 1
      return { iss: ISSUER, sub: 'ada', aud: API, iat: NOW, exp: NOW + 3600, jti: `t-${serial}`, ...over }
    }
    const sign = (over: object = {}, header: object = {}) => key.sign(claims(over), { typ: 'at+jwt', ...header })
    const whoami = (token: string) => plane.call(token, 'GET /v1/auth/whoami')
    const statusOf = async (token: string) => (await whoami(token)).status
    function expectRefused(answer: Answer, sentence: RegExp): void {
      const { correlation_id: _, ...body } = answer.body
      expect([answer.status, body]).toEqual([
        401,
        {
          type: expect.stringContaining('unauthenticated'),
          title: expect.any(String),
          status: 401,
          code: 'unauthenticated',
          detail: expect.any(String),
        },
      ])
      expect(causes.filter((cause) => cause?.startsWith('bearer JWT: ')).at(-1)).toMatch(sentence)
    }

    it('are credentials of the user that they name, with everything the user may do', async () => {
      const token = await sign({ acr: 'urn:mfa', auth_time: NOW - 60 })
      const answer = await whoami(token)
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          subject: `user:${person.id}`,
          kind: 'user',
          domain_id: domainId,
          domain_slug: expect.any(String),
          domain_display_name: expect.any(String),
          display_name: 'Ada',
          credential: { type: 'oidc-jwt', id: `t-${serial}`, scopes: ['*'], expires_at: '2026-03-01T09:00:00.000Z' },
          auth_time: '2026-03-01T07:59:00.000Z',
          acr: 'urn:mfa',
        },
      ])
    })

    it.each([
      { what: 'no typ', header: { typ: undefined }, over: {} },
      { what: 'the plain typ', header: { typ: 'JWT' }, over: {} },
      { what: 'the long typ', header: { typ: 'application/at+jwt' }, over: {} },
      { what: 'several audiences', header: {}, over: { aud: ['account', API] } },
      { what: 'azp and client_id of the client', header: {}, over: { azp: CLIENT, client_id: CLIENT } },
      { what: 'an nbf and iat 30 s ahead', header: {}, over: { nbf: NOW + 30, iat: NOW + 30 } },
      { what: 'no iat and no jti', header: {}, over: { iat: undefined, jti: undefined } },
      { what: 'a typ claim of an access token', header: {}, over: { typ: 'Bearer' } },
    ])('work with $what', async ({ header, over }) => {
      expect(await statusOf(await sign(over, header))).toBe(200)
    })

    it.each([
      { what: 'another issuer', over: { iss: 'https://evil.example' }, says: /no binding takes/ },
      { what: 'an issuer with a slash too much', over: { iss: `${ISSUER}/` }, says: /no binding takes/ },
      { what: 'no issuer', over: { iss: undefined }, says: /no issuer/ },
      { what: 'an issuer that is no text', over: { iss: [ISSUER] }, says: /no issuer/ },
      {
        what: 'an issuer that cannot be stored',
        over: { iss: 'https://a\u0000' },
        says: /issuer or audience is no text/,
      },
      {
        what: 'an audience that cannot be stored',
        over: { aud: [API, '\u0000'] },
        says: /issuer or audience is no text/,
      },
      { what: 'another audience', over: { aud: 'https://other.example' }, says: /no binding takes/ },
      { what: 'no audience', over: { aud: undefined }, says: /no binding takes/ },
      { what: 'the audience of an ID token', over: { aud: CLIENT }, says: /no binding takes/ },
      { what: 'the audience of an ID token beside ours', over: { aud: [CLIENT, API] }, says: /ID token/ },
      { what: 'a nonce', over: { nonce: 'n' }, says: /ID token/ },
      { what: 'an at_hash', over: { at_hash: 'h' }, says: /ID token/ },
      { what: 'the typ claim of an ID token', over: { typ: 'ID' }, says: /another kind/ },
      { what: 'the typ claim of a refresh token', over: { typ: 'Refresh' }, says: /another kind/ },
      { what: 'another azp', over: { azp: 'other-client' }, says: /another client/ },
      { what: 'another client_id', over: { client_id: 'other-client' }, says: /another client/ },
      { what: 'an azp that is no text', over: { azp: [CLIENT] }, says: /another client/ },
      { what: 'an exp that has passed', over: { exp: NOW }, says: /expired/ },
      { what: 'no exp', over: { exp: undefined }, says: /no exp/ },
      { what: 'an exp that is no number', over: { exp: '2030' }, says: /no exp|JWT|number/ },
      { what: 'an exp of all time', over: { exp: Infinity }, says: /no exp/ },
      { what: 'an nbf to come', over: { nbf: NOW + 31 }, says: /not valid yet/ },
      { what: 'an iat to come', over: { iat: NOW + 31 }, says: /in the future/ },
      { what: 'no subject', over: { sub: undefined }, says: /subject is no text/ },
      { what: 'a subject that is no text', over: { sub: { $ne: '' } }, says: /subject is no text/ },
      { what: 'somebody unknown', over: { sub: 'eve' }, says: /nobody with its subject/ },
    ])('are refused with $what', async ({ over, says }) => {
      expectRefused(await whoami(await raw(claims(over))), says)
      expect(plane.audited).not.toContainEqual(expect.objectContaining({ subject: `user:eve` }))
    })

    /** Signs claims as they are: the library checks some of them before it signs. */
    const raw = async (payload: object) => {
      const part = (value: object) =>
        Buffer.from(JSON.stringify(value).replace('"exp":null', '"exp":1e999')).toString('base64url')
      const input = `${part({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })}.${part(payload)}`
      const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
      const signature = await crypto.subtle.sign(algorithm, key.privateKey, Buffer.from(input))
      return `${input}.${Buffer.from(signature).toString('base64url')}`
    }

    it.each([
      { what: 'the alg none', make: async () => unsigned({ alg: 'none' }, claims()), says: /algorithm/ },
      {
        what: 'the alg nOnE and a signature',
        make: async () => unsigned({ alg: 'nOnE', kid: 'k1' }, claims(), 'AAAA'),
        says: /algorithm/,
      },
      { what: 'HS256 under the public key', make: () => underPublicKey(), says: /algorithm/ },
      {
        what: 'an algorithm that the binding does not take',
        make: async () => (await signingKey('k1', { alg: 'ES384' })).sign(claims()),
        says: /algorithm/,
      },
      { what: 'a key of another', make: async () => (await signingKey('k1')).sign(claims()), says: /signature/ },
      { what: 'the kid of another key', make: () => swapped(), says: /signature/ },
      { what: 'an unknown kid', make: () => sign({}, { kid: 'k9' }), says: /no key for it/ },
      { what: 'a kid that is no text', make: () => sign({}, { kid: 7 }), says: /kid is no text/ },
      { what: 'the typ of another JWT', make: () => sign({}, { typ: 'logout+jwt' }), says: /typ/ },
      { what: 'a typ that is no text', make: () => sign({}, { typ: ['JWT', 7] }), says: /typ|no JWT/ },
      { what: 'a jwk of its own', make: () => withOwnKey('jwk'), says: /signature/ },
      { what: 'a jku', make: () => withOwnKey('jku'), says: /signature/ },
      { what: 'an x5u', make: () => withOwnKey('x5u'), says: /signature/ },
      { what: 'a crit', make: () => critical(), says: /critical/ },
      { what: 'claims that were changed', make: async () => changed(await sign()), says: /signature/ },
      { what: 'a signature that was cut', make: async () => (await sign()).slice(0, -2), says: /signature/ },
      {
        what: 'no signature',
        make: async () => `${(await sign()).split('.').slice(0, 2).join('.')}.`,
        says: /signature/i,
      },
      { what: 'a header that is no JSON', make: async () => 'aaaa.bbbb.cccc', says: /no JWT/ },
      { what: 'more than 8 KiB', make: () => sign({ pad: 'x'.repeat(8192) }), says: /too long/ },
    ])('are refused with $what', async ({ make, says }) => {
      expectRefused(await whoami(await make()), says)
    })

    const underPublicKey = async () => {
      const { kid: _, use: __, ...jwk } = key.publicJwk
      const imported = await importJWK(jwk, 'ES256', { extractable: true })
      if (imported instanceof Uint8Array) throw new Error('symmetric')
      return new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(Buffer.from(await exportSPKI(imported)))
    }
    const swapped = async () => {
      idp.keys.set('k2', await signingKey('k2'))
      return sign({}, { kid: 'k2' })
    }
    const withOwnKey = async (member: string) => {
      const own = await signingKey('k1')
      return own.sign(claims(), { [member]: member === 'jwk' ? own.publicJwk : 'https://evil.example/keys' })
    }
    const critical = () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', kid: 'k1', crit: ['exotic'], exotic: true })
        .sign(key.privateKey, { crit: { exotic: true } })
    const changed = (token: string) => {
      const [header, , signature] = token.split('.')
      return `${header}.${Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url')}.${signature}`
    }

    it('of 1 MB never reach the parser: headers have a cap', async () => {
      const before = causes.length
      const answer = await fetch(`${plane.url}/v1/auth/whoami`, {
        headers: { authorization: `Bearer ${'x'.repeat(500_000)}.${'y'.repeat(500_000)}.z` },
      })
      expect(answer.status).toBe(431)
      expect(causes.slice(before).filter((cause) => cause?.startsWith('bearer JWT'))).toEqual([])
    })

    it('are refused where the binding has no API audience, or its client as one', async () => {
      idp.bindings = [{ ...binding, apiAudience: null }]
      expectRefused(await whoami(await sign()), /no binding takes/)
      idp.bindings = [{ ...binding, clientId: API }]
      expectRefused(await whoami(await sign()), /the audience of the API is the client/)
    })

    it('are refused where their audiences belong to several bindings', async () => {
      idp.bindings = [binding, bindingOf(await plane.domain(), { apiAudience: 'second' })]
      expectRefused(await whoami(await sign({ aud: [API, 'second'] })), /several bindings/)
    })

    describe('of a workload', () => {
      const JOB = 'repo:acme/web:ref:refs/heads/main'
      let workload: ServiceIdentity
      beforeEach(() => {
        workload = { id: plane.ids.next(), domainId, displayName: 'Deploys', isDisabled: false }
        idp.workloads = new Map([[`${domainId}|${ISSUER}|${JOB}`, workload]])
      })

      it('stand for the service identity that has issuer and subject', async () => {
        const answer = await whoami(await sign({ sub: JOB }, { typ: 'JWT' }))
        expect([answer.status, answer.body]).toEqual([
          200,
          {
            subject: `serviceaccount:${workload.id}`,
            kind: 'service-identity',
            domain_id: domainId,
            domain_slug: expect.any(String),
            domain_display_name: expect.any(String),
            display_name: 'Deploys',
            credential: { type: 'oidc-jwt', id: `t-${serial}`, scopes: ['*'], expires_at: '2026-03-01T09:00:00.000Z' },
            auth_time: null,
            acr: null,
          },
        ])
      })

      it('stand for the user where both have the subject, and for nobody where that user is disabled', async () => {
        idp.workloads.set(`${domainId}|${ISSUER}|ada`, workload)
        expect((await whoami(await sign())).body['subject']).toBe(`user:${person.id}`)
        idp.users.set(`${domainId}|${ISSUER}|ada`, { ...person, isDisabled: true })
        expectRefused(await whoami(await sign()), /user is disabled/)
      })

      it('are refused to one that is disabled, of another Domain or of another issuer', async () => {
        idp.workloads.set(`${domainId}|${ISSUER}|${JOB}`, { ...workload, isDisabled: true })
        expectRefused(await whoami(await sign({ sub: JOB })), /service identity is disabled/)
        idp.workloads = new Map([
          [`${await plane.domain()}|${ISSUER}|${JOB}`, workload],
          [`${domainId}|https://other.example|${JOB}`, workload],
        ])
        expectRefused(await whoami(await sign({ sub: JOB })), /no service identity has its subject/)
      })

      it.each([
        { what: 'its audience is the client', over: { aud: [CLIENT, API] }, says: /ID token/ },
        { what: 'it was given to another client', over: { azp: 'other' }, says: /another client/ },
        { what: 'it has expired', over: { exp: NOW }, says: /expired/ },
        { what: 'it is not valid yet', over: { nbf: NOW + 31 }, says: /not valid yet/ },
      ])('are held to the rules of all the others: $what', async ({ over, says }) => {
        expectRefused(await whoami(await sign({ sub: JOB, ...over })), says)
      })

      it('end within a second when it is disabled', async () => {
        const token = await sign({ sub: JOB })
        expect(await statusOf(token)).toBe(200)
        idp.workloads.set(`${domainId}|${ISSUER}|${JOB}`, { ...workload, isDisabled: true })
        plane.clock.nowMs = START_MS + 1000
        expectRefused(await whoami(token), /service identity is disabled/)
      })

      it('are noted as a sign-in once a minute, and those of users are not', async () => {
        const [job, user] = [await sign({ sub: JOB }), await sign()]
        for (const seconds of [0, 1, 59, 60, 61]) {
          plane.clock.nowMs = START_MS + seconds * 1000
          expect([await statusOf(job), await statusOf(user)]).toEqual([200, 200])
        }
        expect(idp.signIns).toEqual([
          [workload.id, 0],
          [workload.id, 60_000],
        ])
      })
    })

    it('are refused to a user who is disabled', async () => {
      idp.users.set(`${domainId}|${ISSUER}|ada`, { ...person, isDisabled: true })
      expectRefused(await whoami(await sign()), /disabled/)
    })

    it('must have one of the required acr and all of the required amr', async () => {
      idp.bindings = [{ ...binding, requiredAcr: ['gold', 'silver'], requiredAmr: ['pwd', 'otp'] }]
      expect(await statusOf(await sign({ acr: 'silver', amr: ['otp', 'pwd', 'x'] }))).toBe(200)
      expectRefused(await whoami(await sign({ acr: 'bronze', amr: ['otp', 'pwd'] })), /acr/)
      expectRefused(await whoami(await sign({ amr: ['otp', 'pwd'] })), /acr/)
      expectRefused(await whoami(await sign({ acr: 'gold', amr: ['pwd'] })), /amr/)
      expectRefused(await whoami(await sign({ acr: 'gold' })), /amr/)
    })

    it('take the subject from the claim that the binding names', async () => {
      idp.bindings = [{ ...binding, claims: { ...binding.claims, subject: 'oid' } }]
      expect(await statusOf(await sign({ oid: 'ada', sub: 'pairwise' }))).toBe(200)
      expectRefused(await whoami(await sign({ oid: undefined })), /subject is no text/)
    })

    describe('of a binding that Domains share', () => {
      const shared = () => bindingOf(null, { claims: { ...binding.claims, domain: 'tenant' } })

      it('name the Domain by slug or id', async () => {
        idp.bindings = [shared()]
        const { slug } = await plane.db
          .selectFrom('domains')
          .select('slug')
          .where('id', '=', domainId)
          .executeTakeFirstOrThrow()
        expect(await statusOf(await sign({ tenant: slug }))).toBe(200)
        expect(await statusOf(await sign({ tenant: domainId }))).toBe(200)
      })

      it('are refused without the claim, for an unknown Domain and for one where nobody is known', async () => {
        idp.bindings = [shared()]
        expectRefused(await whoami(await sign()), /names no Domain/)
        expectRefused(await whoami(await sign({ tenant: 'nowhere' })), /names no Domain/)
        expectRefused(await whoami(await sign({ tenant: [domainId] })), /names no Domain/)
        expectRefused(await whoami(await sign({ tenant: await plane.domain() })), /nobody with its subject/)
      })

      it('are refused for a Domain that has a binding of its own', async () => {
        idp.bindings = [shared()]
        await plane.db
          .insertInto('idp_bindings')
          .values({
            id: plane.ids.next(),
            domain_id: domainId,
            alias: 'own',
            label: 'Own',
            issuer: 'https://own.example',
            client_id: 'c',
            client_secret_sealed: null,
            api_audience: null,
            algorithms: '[]',
            claims: '{}',
            required_acr: '[]',
            required_amr: '[]',
            is_primary: true,
            is_active: true,
            auto_provision: 'null',
            allow_private_network: false,
            created_at: new Date(START_MS),
            updated_at: new Date(START_MS),
          })
          .execute()
        expectRefused(await whoami(await sign({ tenant: domainId })), /names no Domain that the shared binding speaks/)
      })

      it('are refused where the binding names no claim for it', async () => {
        idp.bindings = [bindingOf(null)]
        expectRefused(await whoami(await sign({ tenant: domainId })), /names no Domain claim/)
      })
    })

    it('are verified once, and end with their exp though they are remembered', async () => {
      const token = await sign({ exp: NOW + 600 })
      await Promise.all([whoami(token), whoami(token), whoami(token)])
      plane.clock.nowMs = START_MS + 599_000
      expect([await statusOf(token), idp.asked]).toEqual([200, 1])
      plane.clock.nowMs = START_MS + 600_000
      expectRefused(await whoami(token), /expired/)
    })

    it('are verified anew every ten minutes, so that a withdrawn key ends', async () => {
      const token = await sign()
      expect(await statusOf(token)).toBe(200)
      idp.keys.clear()
      plane.clock.nowMs = START_MS + 599_000
      expect(await statusOf(token)).toBe(200)
      plane.clock.nowMs = START_MS + 600_000
      expectRefused(await whoami(token), /no key for it/)
    })

    it.each([
      { what: 'the binding is deleted', change: () => void (idp.bindings = []), says: /no binding takes/ },
      {
        what: 'the user is disabled',
        change: () => void idp.users.set(`${domainId}|${ISSUER}|ada`, { ...person, isDisabled: true }),
        says: /disabled/,
      },
      { what: 'the user is deleted', change: () => idp.users.clear(), says: /nobody/ },
      {
        what: 'the binding takes other algorithms',
        change: () => void (idp.bindings = [{ ...binding, algorithms: ['RS256'] }]),
        says: /algorithm/,
      },
      {
        what: 'the binding requires an acr',
        change: () => void (idp.bindings = [{ ...binding, requiredAcr: ['gold'] }]),
        says: /acr/,
      },
    ])('end within a second when $what', async ({ change, says }) => {
      const token = await sign()
      expect(await statusOf(token)).toBe(200)
      change()
      plane.clock.nowMs = START_MS + 1000
      expectRefused(await whoami(token), says)
    })

    it('are refused when the keys of the issuer cannot be had, and work again when they can', async () => {
      idp.failure = problem('idp_unavailable')
      const token = await sign()
      expectRefused(await whoami(token), /keys of its issuer cannot be had/)
      idp.failure = undefined
      plane.clock.nowMs = START_MS + 1000
      expect(await statusOf(token)).toBe(200)
    })

    it('are neither taken nor refused while the datastore is away', async () => {
      const token = await sign()
      expect(await statusOf(token)).toBe(200)
      idp.isDown = true
      plane.clock.nowMs = START_MS + 1000
      const answer = await whoami(token)
      expect([answer.status, answer.body['code']]).toEqual([503, 'datastore_unavailable'])
      idp.isDown = false
      expect(await statusOf(token)).toBe(200)
    })
  })
})
