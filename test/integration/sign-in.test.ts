import { createHash, createPublicKey } from 'node:crypto'
import { sql } from 'kysely'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSessions } from '../../src/server/slices/sessions/sessions.ts'
import type { IdpBinding } from '../../src/server/ports/idp-bindings.ts'
import {
  BASE_URL,
  CLIENT_ID,
  NAVIGATION,
  OPEN_MAX,
  openBrowser,
  startSigningIn,
  type Browser,
  type Landing,
  type SigningIn,
} from '../support/sign-in/sign-in.ts'
import { STORES } from '../support/datastores/stores.ts'
import { createStartFromPage } from '../../src/server/slices/sign-in/start-from-page.ts'
import type { Forgery } from '../support/sign-in/test-issuer.ts'

const ANNA = { sub: 'anna', email: 'Anna@Acme.Example', email_verified: true, name: 'Anna Adler' }
const WELCOME = { emailDomains: ['acme.example'], groups: [] }

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString())

describe.each(STORES)('Signing in on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let world: SigningIn
    let domainId: string
    let binding: IdpBinding
    let browser: Browser
    let before: Awaited<ReturnType<SigningIn['counts']>>

    beforeAll(async () => {
      world = await startSigningIn(store)
    })
    afterAll(() => world.stop())

    beforeEach(async () => {
      // The issuer's tokens are of the real time.
      world.clock.nowMs = Date.now()
      Object.assign(world.issuer, { forgery: { claims: ANNA }, metadata: {}, isDown: false })
      domainId = await world.domain()
      binding = await bind({})
      browser = openBrowser(world.url)
      await world.db.deleteFrom('sign_ins').execute()
      before = await world.counts()
    })

    const bind = (members: Partial<IdpBinding>, secret?: string) =>
      world.bindings.add(world.db, { id: world.ids.next(), domainId, issuer: world.issuer.url, ...members }, secret)
    const where = (of = binding) => ({ domain_id: domainId, idp_binding_id: of.id })
    const change = (members: Partial<IdpBinding>) => world.bindings.change(binding.id, members)
    const codeOf = ({ status, body }: Landing) => [status, body['code']]
    const users = (of = domainId) =>
      world.db.selectFrom('principals').selectAll().where('domain_id', '=', of).where('kind', '=', 'user').execute()
    const sessions = () => world.db.selectFrom('sessions').selectAll().where('domain_id', '=', domainId).execute()
    const rows = () => world.db.selectFrom('sign_ins').selectAll().execute()

    describe('begins', () => {
      it('with a URL of the issuer that says everything that the answer is held against', async () => {
        const started = await browser.begin({ ...where(), return_to: '/v1/device' })
        expect(started.status).toBe(200)
        const url = new URL(started.body['authorization_url'] ?? '')
        expect(`${url.origin}${url.pathname}`).toBe(`${world.issuer.url}/authorize`)
        expect(Object.fromEntries(url.searchParams)).toEqual({
          client_id: CLIENT_ID,
          response_type: 'code',
          redirect_uri: `${BASE_URL}/v1/auth/callback`,
          scope: 'openid profile email',
          state: started.body['state'],
          nonce: expect.stringMatching(/^[\w-]{43}$/),
          code_challenge: expect.stringMatching(/^[\w-]{43}$/),
          code_challenge_method: 'S256',
        })
        expect(started.body).toEqual({
          authorization_url: url.href,
          state: expect.stringMatching(/^[\w-]{43}$/),
          expires_at: new Date(world.clock.nowMs + 600_000).toISOString(),
        })
        expect(started.headers.get('cache-control')).toBe('no-store')
      })

      it('with a cookie that binds it to the browser, and keeps only hashes and what is sealed', async () => {
        const started = await browser.begin({ ...where(), return_to: '/v1/device' })
        expect(browser.setCookies).toEqual([
          expect.stringMatching(
            /^service_signin=[\w-]{43}; Path=\/v1\/auth\/callback; SameSite=Lax; HttpOnly; Max-Age=600$/,
          ),
        ])
        const [row] = await rows()
        const hash = (text: string | undefined) =>
          createHash('sha256')
            .update(text ?? '')
            .digest()
        expect(row).toMatchObject({
          state_hash: hash(started.body['state']),
          browser_hash: hash(browser.cookies.get('service_signin')),
          binding_id: binding.id,
          domain_id: domainId,
          return_to: '/v1/device',
          expires_at: new Date(world.clock.nowMs + 600_000),
        })
        const nonce = new URL(started.body['authorization_url'] ?? '').searchParams.get('nonce') ?? ''
        expect(row?.sealed.includes(nonce)).toBe(false)
        expect(await world.audit(started)).toEqual({
          relation: 'auth.sign_in.start',
          object: `domain:${domainId}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it('asking for the class of authentication that the binding requires, and a fresh one where the request wants it', async () => {
        change({ requiredAcr: ['urn:mfa', 'urn:phr'] })
        const asked = async (more: object) => {
          const { body } = await browser.begin({ ...where(), ...more })
          const { searchParams } = new URL(body['authorization_url'] ?? '')
          return [searchParams.get('acr_values'), searchParams.get('max_age')]
        }
        expect(await asked({})).toEqual(['urn:mfa urn:phr', '43200'])
        expect(await asked({ max_age_seconds: 900 })).toEqual(['urn:mfa urn:phr', '900'])
        change({ requiredAcr: [] })
        expect(await asked({ max_age_seconds: 900 })).toEqual([null, '900'])
      })

      it.each([
        { who: 'nobody', session: undefined, subject: 'anonymous' },
        { who: 'somebody', session: { subject: 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b' } },
      ])('by a page, audited as $who is signed in there', async ({ session, subject = session?.subject }) => {
        const relyingParty = {
          authorizationUrl: async () => 'https://idp.example/',
          redeem: async () => ({ claims: {}, idToken: '' }),
        }
        const start = createStartFromPage({ ...world, relyingParty })
        const correlationId = world.ids.next()
        const visit = { correlationId, nowMs: world.clock.nowMs, session }
        const place = { domain_id: domainId, idp_binding_id: binding.id }
        const { location } = await start({ where: place, returnTo: '/v1/device', visit })
        expect(location).toBe('https://idp.example/')
        const audited = world.db.selectFrom('audit').select(['subject', 'relation', 'outcome'])
        expect(await audited.where('correlation_id', '=', correlationId).execute()).toEqual([
          { subject, relation: 'auth.sign_in.start', outcome: 'granted' },
        ])
      })

      it('asking for groups where the issuer has a scope for them', async () => {
        world.issuer.metadata = { scopes_supported: ['openid', 'groups'] }
        const { body } = await browser.begin(where())
        expect(new URL(body['authorization_url'] ?? '').searchParams.get('scope')).toBe('openid profile email groups')
      })

      it('not with a binding that there is none of, nor while the issuer is away', async () => {
        const unknown = await browser.begin({ domain_id: domainId, idp_binding_id: domainId })
        expect(codeOf(unknown)).toEqual([404, 'idp_binding_not_found'])
        // S0 names the type otherwise than the code.
        expect(unknown.body['type']).toBe('/problems/binding_not_found')
        world.issuer.isDown = true
        expect(codeOf(await browser.begin(where()))).toEqual([503, 'idp_unavailable'])
        expect(await world.counts()).toEqual(before)
        expect(browser.cookies.size).toBe(0)
      })

      it('not while as many others are open as may be; those that have expired do not count', async () => {
        const open = (count: number, minutes: number) => sql`
          insert into sign_ins select sha256(gen_random_uuid()::text::bytea), '\\x00', ${binding.id}, ${domainId}, '\\x00', '/',
            now(), ${new Date(world.clock.nowMs + minutes * 60_000).toISOString()}::timestamptz
          from generate_series(1, ${count}::integer)`
        await open(OPEN_MAX - 1, 5).execute(world.db)
        await open(OPEN_MAX, -5).execute(world.db)
        expect((await browser.begin(where())).status).toBe(200)
        const refused = await openBrowser(world.url).begin(where())
        expect(codeOf(refused)).toEqual([429, 'rate_limited'])
        expect(refused.headers.get('retry-after')).toBe('60')
        expect(await rows()).toHaveLength(2 * OPEN_MAX)
      })
    })

    describe('ends', () => {
      beforeEach(() => change({ autoProvision: WELCOME }))

      it('in the browser with a redirection and the session', async () => {
        const landing = await browser.signIn({ ...where(), return_to: '/v1/device?user_code=X' }, NAVIGATION)
        expect([landing.status, landing.headers.get('location')]).toEqual([303, '/v1/device?user_code=X'])
        expect(landing.headers.get('cache-control')).toBe('no-store')
        const [session] = await sessions()
        expect(browser.setCookies).toEqual([
          'service_signin=; Path=/v1/auth/callback; SameSite=Lax; HttpOnly; Max-Age=0',
          expect.stringMatching(/^service_session=[\w-]{43}; Path=\/v1\/; SameSite=Strict; HttpOnly$/),
          `service_csrf=${createSessions(world).csrfToken(session?.id ?? '')}; Path=/v1/; SameSite=Strict`,
        ])
      })

      it('in a program with a document, and the same session', async () => {
        const landing = await browser.signIn(where())
        const [user] = await users()
        expect([landing.status, landing.body]).toEqual([
          200,
          { subject: `user:${user?.id}`, domain_id: domainId, return_to: '/' },
        ])
        expect([...browser.cookies.keys()]).toEqual(['service_session', 'service_csrf'])
      })

      it('with a user, their edge, a session, two events and an audit row about the user', async () => {
        const landing = await browser.signIn(where())
        const [user] = await users()
        expect(user).toMatchObject({
          display_name: 'Anna Adler',
          email: 'anna@acme.example',
          binding_id: binding.id,
          last_sign_in_at: new Date(world.clock.nowMs),
        })
        const subject = `user:${user?.id}`
        expect(await world.tuplesOf(subject)).toEqual([`domain:${domainId} domain ${subject}`])
        const [session] = await sessions()
        expect(session).toMatchObject({
          principal_id: user?.id,
          binding_id: binding.id,
          source_address: '127.0.0.1',
          user_agent: 'A browser',
        })
        expect(await world.outbox(landing)).toEqual([
          {
            event: 'identity.UserProvisioned',
            domain_id: domainId,
            aggregate: subject,
            payload: { user_id: user?.id, binding_id: binding.id },
          },
          {
            event: 'identity.UserSignedIn',
            domain_id: domainId,
            aggregate: subject,
            payload: { user_id: user?.id, binding_id: binding.id, session_id: session?.id },
          },
        ])
        expect(await world.audit(landing)).toEqual({
          relation: 'auth.sign_in.complete',
          object: subject,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
        expect(await rows()).toEqual([])
      })

      it('without a trace of address or subject in audit and outbox', async () => {
        await browser.signIn(where())
        const { rows: said } = await sql<{ text: string }>`
          select row_to_json(audit)::text as text from audit union all select row_to_json(outbox)::text from outbox
        `.execute(world.db)
        expect(said.length).toBeGreaterThan(2)
        expect(said.filter(({ text }) => /acme\.example|"anna"|#anna|Adler/i.test(text))).toEqual([])
      })

      it('with how and when the issuer authenticated the person', async () => {
        const authTime = Math.floor(world.clock.nowMs / 1000) - 100
        world.issuer.forgery = { claims: { ...ANNA, acr: 'urn:mfa', amr: ['pwd', 'otp'], auth_time: authTime } }
        await browser.signIn(where())
        expect(await sessions()).toMatchObject([
          { acr: 'urn:mfa', amr: ['pwd', 'otp'], auth_time: new Date(authTime * 1000) },
        ])
      })

      it('with a new session in place of the one that the browser had', async () => {
        await browser.signIn(where())
        const first = browser.cookies.get('service_session')
        await browser.signIn(where())
        expect(browser.cookies.get('service_session')).not.toBe(first)
        expect(await sessions()).toHaveLength(1)
      })

      it('for a confidential client, which proves itself in the header, or in the body where the issuer takes that', async () => {
        const confidential = await bind({ autoProvision: WELCOME }, 'se/cret')
        // This issuer takes the client id of the header as it comes, encoded.
        world.issuer.forgery = { claims: { ...ANNA, aud: CLIENT_ID } }
        expect((await browser.signIn(where(confidential))).status).toBe(200)
        const { headers, body } = world.issuer.tokenRequests.at(-1) ?? {}
        expect(headers?.['authorization']).toBe(`Basic ${Buffer.from('ctl%2Dconsole:se%2Fcret').toString('base64')}`)
        expect(body).not.toHaveProperty('client_secret')
        world.issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] }
        expect((await browser.signIn(where(confidential))).status).toBe(200)
        expect(world.issuer.tokenRequests.at(-1)?.body).toMatchObject({ client_secret: 'se/cret' })
      })

      it('with an issuer that names itself in its answer, where it announces that', async () => {
        world.issuer.metadata = { authorization_response_iss_parameter_supported: true }
        const callback = await browser.authorize(await browser.begin(where()))
        callback.searchParams.set('iss', world.issuer.url)
        callback.searchParams.set('session_state', 'x')
        expect((await browser.comeBack(callback)).status).toBe(200)
      })

      it('with what userinfo says where the ID token leaves it out', async () => {
        world.issuer.forgery = {
          claims: { sub: 'johndoe' },
          userinfo: { email: 'john@acme.example', email_verified: true, name: 'John' },
        }
        expect((await browser.signIn(where())).status).toBe(200)
        expect(await users()).toMatchObject([{ display_name: 'John', email: 'john@acme.example' }])
      })

      it.each([
        ['//evil.example', '/'],
        ['https://evil.example/', '/'],
        ['/\\evil.example', '/'],
        ['/v1/device', '/v1/device'],
      ])('at %j never elsewhere than on this origin: %j', async (return_to, location) => {
        const landing = await browser.signIn({ ...where(), return_to }, NAVIGATION)
        expect(landing.headers.get('location')).toBe(location)
      })
    })

    describe('is refused and leaves nothing behind', () => {
      beforeEach(() => change({ autoProvision: WELCOME }))
      const expectNothing = async () => expect(await world.counts()).toEqual(before)

      const seconds = () => Math.floor(Date.now() / 1000)
      const claims =
        (more: object): (() => Forgery) =>
        () => ({ claims: { ...ANNA, ...more } })
      const stranger = async (header: object, alg: string) => {
        const { privateKey } = await generateKeyPair(alg)
        return (token: string) =>
          new SignJWT(decoded(token.split('.')[1])).setProtectedHeader({ ...header, alg }).sign(privateKey)
      }
      const kidOf = () => world.issuer.server.issuer.keys.toJSON()[0]?.kid

      const FORGERIES: readonly (readonly [string, () => Forgery | Promise<Forgery>])[] = [
        ['another nonce', claims({ nonce: 'another' })],
        ['no nonce', () => ({ claims: ANNA, without: ['nonce'] })],
        ['another issuer', claims({ iss: 'https://evil.example' })],
        ['another audience', claims({ aud: 'somebody-else' })],
        ['several audiences without an authorized party', claims({ aud: [CLIENT_ID, 'somebody-else'] })],
        ['several audiences for another authorized party', claims({ aud: [CLIENT_ID, 'x'], azp: 'x' })],
        ['one audience for another authorized party', claims({ azp: 'somebody-else' })],
        ['a token that has expired', () => claims({ exp: seconds() - 31 })()],
        ['a token that is not valid yet', () => claims({ nbf: seconds() + 60 })()],
        ['a token from the future', () => claims({ iat: seconds() + 60 })()],
        ['no subject', () => ({ claims: ANNA, without: ['sub'] })],
        ['an empty subject', claims({ sub: '' })],
        ['a subject with control characters', claims({ sub: 'anna\u0000' })],
        ['a subject that is too long', claims({ sub: 'x'.repeat(256) })],
        ['an access token in place of the ID token', () => ({ claims: ANNA, header: { typ: 'at+jwt' } })],
        [
          'a token without signature',
          () => ({
            claims: ANNA,
            token: (token) => `${encoded({ alg: 'none', typ: 'JWT' })}.${token.split('.')[1]}.`,
          }),
        ],
        [
          'a token signed with the public key as a shared secret',
          () => ({
            claims: ANNA,
            async token(token) {
              const [jwk] = world.issuer.server.issuer.keys.toJSON()
              const pem = createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
              const secret = Buffer.from(pem)
              return new SignJWT(decoded(token.split('.')[1]))
                .setProtectedHeader({ alg: 'HS256', kid: String(jwk?.kid) })
                .sign(secret)
            },
          }),
        ],
        [
          "a token that another key signed under the issuer's key id",
          async () => ({ claims: ANNA, token: await stranger({ kid: kidOf() }, 'RS256') }),
        ],
        [
          'a token under a key id that nobody knows',
          async () => ({ claims: ANNA, token: await stranger({ kid: 'unknown' }, 'RS256') }),
        ],
        [
          'no ID token',
          () => ({ response: (answer) => void (answer.body = { access_token: 'x', token_type: 'Bearer' }) }),
        ],
        [
          'a token endpoint that refuses the code',
          () => ({
            response: (answer) => void Object.assign(answer, { statusCode: 400, body: { error: 'invalid_grant' } }),
          }),
        ],
      ]

      it.each(FORGERIES)('%s', async (_what, forgery) => {
        world.issuer.forgery = await forgery()
        const landing = await browser.signIn(where())
        expect(codeOf(landing)).toEqual([403, 'sign_in_refused'])
        expect([...browser.cookies.keys()]).toEqual([])
        await expectNothing()
      })

      it('userinfo about somebody else', async () => {
        world.issuer.forgery = { claims: { sub: 'anna' }, userinfo: { ...ANNA, sub: 'ben' } }
        expect(codeOf(await browser.signIn(where()))).toEqual([403, 'sign_in_refused'])
        await expectNothing()
      })

      it('an algorithm that the binding does not pin', async () => {
        change({ algorithms: ['ES256'] })
        expect(codeOf(await browser.signIn(where()))).toEqual([403, 'sign_in_refused'])
        await expectNothing()
      })

      it.each([
        ['no issuer in the answer of one that announces it', undefined],
        ['another issuer in the answer', 'https://evil.example'],
      ])('%s', async (_what, iss) => {
        world.issuer.metadata = { authorization_response_iss_parameter_supported: true }
        const callback = await browser.authorize(await browser.begin(where()))
        if (iss !== undefined) callback.searchParams.set('iss', iss)
        expect(codeOf(await browser.comeBack(callback))).toEqual([403, 'sign_in_refused'])
        await expectNothing()
      })

      it('a refusal of the provider', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        callback.searchParams.delete('code')
        callback.searchParams.set('error', 'access_denied')
        callback.searchParams.set('error_description', '<script>')
        const landing = await browser.comeBack(callback)
        expect(codeOf(landing)).toEqual([403, 'sign_in_refused'])
        expect(JSON.stringify(landing.body)).not.toContain('script')
        await expectNothing()
      })

      it('a callback without its cookie, or with that of another browser; the sign-in stays with its own', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        const other = openBrowser(world.url)
        expect(codeOf(await other.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
        await other.begin(where())
        expect(codeOf(await other.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
        expect(other.cookies.has('service_session')).toBe(false)
        expect((await browser.comeBack(callback)).status).toBe(200)
      })

      it('a second use of the callback', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        const cookie = browser.cookies.get('service_signin') ?? ''
        expect((await browser.comeBack(callback)).status).toBe(200)
        const after = await world.counts()
        browser.cookies.set('service_signin', cookie)
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
        expect(await world.counts()).toEqual(after)
      })

      it('both of two uses at once but one', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        const twin = openBrowser(world.url)
        for (const [name, value] of browser.cookies) twin.cookies.set(name, value)
        const landings = await Promise.all([browser.comeBack(callback), twin.comeBack(callback)])
        expect(landings.map(({ status }) => status).toSorted()).toEqual([200, 400])
        expect(await sessions()).toHaveLength(1)
      })

      it('a code that was redeemed before', async () => {
        const first = await browser.authorize(await browser.begin(where()))
        await browser.comeBack(first)
        const after = await world.counts()
        const second = await browser.authorize(await browser.begin(where()))
        second.searchParams.set('code', first.searchParams.get('code') ?? '')
        expect(codeOf(await browser.comeBack(second))).toEqual([403, 'sign_in_refused'])
        expect(await world.counts()).toEqual(after)
      })

      it('a code that another sign-in got', async () => {
        const mine = await browser.authorize(await browser.begin(where()))
        const victim = openBrowser(world.url)
        const theirs = await victim.authorize(await victim.begin(where()))
        theirs.searchParams.set('code', mine.searchParams.get('code') ?? '')
        expect(codeOf(await victim.comeBack(theirs))).toEqual([403, 'sign_in_refused'])
        expect(victim.cookies.has('service_session')).toBe(false)
      })

      it('a state that nobody was given', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        callback.searchParams.set('state', 'x'.repeat(43))
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
        expect((await world.counts()).sessions).toBe(before.sessions)
      })

      it('a sign-in that took 10 minutes', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        world.clock.nowMs += 600_000
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'sign_in_expired'])
        await expectNothing()
      })

      it('a binding that went away meanwhile', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        world.bindings.remove(binding.id)
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
        await expectNothing()
      })

      it('an issuer that is away, or fails', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        world.issuer.isDown = true
        expect(codeOf(await browser.comeBack(callback))).toEqual([503, 'idp_unavailable'])
        world.issuer.isDown = false
        world.issuer.forgery = { response: (answer) => void Object.assign(answer, { statusCode: 502, body: {} }) }
        expect(codeOf(await browser.signIn(where()))).toEqual([503, 'idp_unavailable'])
        await expectNothing()
      })

      it('a callback with neither code nor error, or with members twice', async () => {
        const callback = await browser.authorize(await browser.begin(where()))
        const twice = new URL(`${callback.href}&state=x`)
        expect(codeOf(await browser.comeBack(twice))).toEqual([400, 'invalid_query'])
        callback.searchParams.delete('code')
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'invalid_query'])
      })

      it('in a browser with a redirection that names the code', async () => {
        const landing = await browser.comeBack(new URL(`${BASE_URL}/v1/auth/callback?code=x&state=y`), NAVIGATION)
        expect(landing.status).toBe(303)
        expect(landing.headers.get('location')).toMatch(/^\/\?problem=invalid_sign_in&correlation_id=/)
      })
    })
  })
})
