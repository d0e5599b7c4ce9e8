import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SignInOrder } from '../../src/server/slices/device-flow/start-sign-in.ts'
import { problem } from '../../src/shared/problems.ts'
import { addBinding, cookiesOf, startDevicePlane, type DevicePlane } from '../support/sign-in/device-plane.ts'
import type { OpenSession } from '../support/sign-in/browser-sessions.ts'
import { STORES } from '../support/datastores/stores.ts'

const MINUTE = 60_000
const IDP = 'https://idp.example/authorize'

interface VisitInit {
  readonly method?: string
  readonly body?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
}

/** A page as a browser gets it, redirects not followed. */
interface Visited {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

describe.each(STORES)('the page for approving devices on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    /** What sign-ins were started with, and what they come to. */
    const orders: SignInOrder[] = []
    let refusal: 'domain_required' | 'multiple-bindings' | 'idp_binding_not_found' | undefined

    beforeAll(async () => {
      plane = await startDevicePlane(store, {
        async startSignIn(order) {
          orders.push(order)
          if (refusal !== undefined) throw problem(refusal)
          const cookie = {
            name: 'bound',
            value: 'x',
            path: '/v1/auth/callback',
            sameSite: 'Lax',
            isHttpOnly: true,
          } as const
          return { location: IDP, cookies: [cookie] }
        },
      })
    })
    afterAll(() => plane?.stop())

    async function visit(path: string, init: VisitInit = {}, session?: OpenSession): Promise<Visited> {
      const cookie = session === undefined ? {} : { cookie: cookiesOf(session)['cookie'] ?? '' }
      const headers = { accept: 'text/html', 'sec-fetch-site': 'none', ...cookie, ...init.headers }
      const response = await fetch(`${plane.url}${path}`, { redirect: 'manual', ...init, headers })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }

    const submit = (members: Readonly<Record<string, string>>, session?: OpenSession, headers = {}) =>
      visit('/v1/device', { method: 'POST', body: new URLSearchParams(members), headers }, session)

    const stateOf = async (userCode: string) =>
      (
        await plane.db
          .selectFrom('device_sign_ins')
          .select('state')
          .where('user_code', '=', userCode.replace('-', ''))
          .executeTakeFirst()
      )?.state

    describe('somebody who is signed out', () => {
      it('is sent to sign in, and back to the same code', async () => {
        const { user_code: code } = await plane.begin()
        const { status, headers } = await visit(`/v1/device?user_code=${code}`)
        expect([status, headers.get('location')]).toEqual([303, IDP])
        expect(headers.get('set-cookie')).toContain('bound=x; Path=/v1/auth/callback; SameSite=Lax; HttpOnly')
        expect(orders.at(-1)?.returnTo).toBe(`/v1/device?user_code=${code}&returned=1`)
      })

      it('learns nothing of a code, right or wrong', async () => {
        const { user_code: code } = await plane.begin()
        const strip = ({ status, headers, text }: Visited) => [status, headers.get('location'), text]
        expect(strip(await visit(`/v1/device?user_code=${code}`))).toEqual(
          strip(await visit('/v1/device?user_code=BCDF-GHJK')),
        )
      })

      it('signs in where the address says', async () => {
        await visit(`/v1/device?domain_id=${plane.home}&idp_binding_alias=corp&user_code=BCDF-GHJK`)
        expect(orders.at(-1)?.where).toEqual({ domain_id: plane.home, idp_binding_alias: 'corp' })
      })

      it('is not sent on with what is malformed, nor off this origin', async () => {
        await visit(
          '/v1/device?domain_id=1&domain=A%20B&idp_binding_id=x&return_to=https://evil.example&user_code=//evil.example',
        )
        expect(orders.at(-1)).toMatchObject({
          where: {},
          returnTo: '/v1/device?user_code=%2F%2Fevil.example&returned=1',
        })
      })

      it('asks for the page once more when it comes from another site, where the cookie is left out', async () => {
        const { status, text } = await visit('/v1/device?user_code=BCDF-GHJK', {
          headers: { 'sec-fetch-site': 'cross-site' },
        })
        expect([status, text]).toEqual([
          200,
          expect.stringMatching(
            /http-equiv="refresh" content="0; url=\/v1\/device\?user_code=BCDF-GHJK&amp;arrived=\d+"/,
          ),
        ])
      })

      it('is not sent round for ever when the browser keeps no cookie', async () => {
        const { status, text } = await visit('/v1/device?user_code=BCDF-GHJK&returned=1')
        expect([status, text]).toEqual([200, expect.stringContaining('may refuse cookies')])
        expect(text).toContain('href="/v1/device?user_code=BCDF-GHJK"')
      })

      it('chooses among several providers by links that keep the code', async () => {
        const other = await plane.domain()
        const one = await addBinding(plane, other)
        refusal = 'multiple-bindings'
        const { status, text } = await visit(`/v1/device?domain_id=${other}&user_code=BCDF-GHJK`)
        refusal = undefined
        expect(status).toBe(200)
        expect(text).toContain(
          `href="/v1/device?domain_id=${other}&amp;user_code=BCDF-GHJK&amp;idp_binding_id=${one.id}"`,
        )
      })

      it('names a Domain where there are several, and is told alike that one is unknown or has no provider', async () => {
        await plane.domain('empty-one')
        refusal = 'domain_required'
        const asked = await visit('/v1/device?user_code=BCDF-GHJK')
        refusal = 'idp_binding_not_found'
        const [unknown, empty] = [
          await visit('/v1/device?domain=nowhere&choose=1'),
          await visit('/v1/device?domain=empty-one&choose=1'),
        ]
        refusal = undefined
        expect(asked.text).toContain('<input type="hidden" name="user_code" value="BCDF-GHJK">')
        expect(unknown.text).toContain('There is no way to sign in to that Domain.')
        expect(unknown.text).toBe(empty.text)
      })

      it('cannot approve: a form without a session leads to the sign-in', async () => {
        const { user_code: code } = await plane.begin()
        const { status, headers } = await submit({ user_code: code, verdict: 'approved' })
        expect([status, headers.get('location')]).toEqual([303, `/v1/device?user_code=${code}`])
        expect(await stateOf(code)).toBe('pending')
      })
    })

    describe('somebody who is signed in', () => {
      it('is named on every page, and never by an id', async () => {
        const { user_code: code } = await plane.begin()
        const { id, session } = await plane.person()
        await plane.db.updateTable('principals').set({ display_name: 'Ana Novak' }).where('id', '=', id).execute()
        for (const path of ['/v1/device', `/v1/device?user_code=${code}`]) {
          const { text } = await visit(path, {}, session)
          expect(text).toContain('You are signed in as <strong>Ana Novak</strong>')
          expect(text).not.toContain(id)
        }
      })

      it('types a code, sees who asks and for what, and nothing is approved by looking', async () => {
        const { user_code: code } = await plane.begin({ client_name: 'build <box>', scope: 'nodes:read' })
        const { session } = await plane.person()
        plane.clock.nowMs += 2 * MINUTE
        const form = await visit('/v1/device', {}, session)
        expect(form.text).toContain('<label for="user_code">')
        const { status, text } = await visit(`/v1/device?user_code=${code.toLowerCase()}`, {}, session)
        expect(status).toBe(200)
        for (const shown of [
          code,
          'build &lt;box&gt;',
          'unverified',
          '127.0.0.1',
          '2 minutes ago',
          '8 minutes',
          'nodes:read',
          '30 days',
        ])
          expect(text).toContain(shown)
        expect(await stateOf(code)).toBe('pending')
      })

      it('is served a page that nobody can frame, keep or run scripts in', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const { headers, text } = await visit(`/v1/device?user_code=${code}`, {}, session)
        const policy = headers.get('content-security-policy') ?? ''
        expect(policy.split('; ')).toEqual(
          expect.arrayContaining([
            "default-src 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
          ]),
        )
        expect(policy).not.toContain('script-src')
        expect(text).not.toContain('<script')
        expect([headers.get('cache-control'), headers.get('x-frame-options')]).toEqual(['no-store', 'DENY'])
      })

      it.each([
        ['approved', 'Approved'],
        ['denied', 'Refused'],
      ] as const)('can say that it is %s, and sees that when coming back', async (verdict, title) => {
        const { user_code: code } = await plane.begin()
        const { id, session } = await plane.person()
        const members = { user_code: code, verdict, csrf_token: session.csrfToken }
        const { status, headers } = await submit(members, session)
        expect([status, headers.get('location')]).toEqual([303, `/v1/device?user_code=${code}`])
        expect(await stateOf(code)).toBe(verdict)
        const relation = verdict === 'approved' ? 'auth.device_code.approve' : 'auth.device_code.deny'
        expect(await plane.audit({ headers })).toMatchObject({ relation, object: `user:${id}`, outcome: 'granted' })
        expect((await visit(`/v1/device?user_code=${code}`, {}, session)).text).toContain(`<h1>${title}</h1>`)
        const again = await submit({ ...members, verdict: 'approved' }, session)
        expect([again.status, await stateOf(code)]).toEqual([404, verdict])
      })

      it('needs the token of the page, and a form of this origin', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const { session: other } = await plane.person()
        const members = { user_code: code, verdict: 'approved' }
        const [missing, foreign, crossSite] = [
          await submit(members, session),
          await submit({ ...members, csrf_token: other.csrfToken }, session),
          await submit({ ...members, csrf_token: session.csrfToken }, session, { 'sec-fetch-site': 'cross-site' }),
        ]
        expect([missing.status, foreign.status, crossSite.status]).toEqual([403, 403, 403])
        expect(await plane.audit(missing)).toMatchObject({ outcome: 'permission_denied', reason: 'csrf_failed' })
        expect(await stateOf(code)).toBe('pending')
      })

      it('finds no code of another Domain, and is asked again', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person(await plane.domain())
        const seen = await visit(`/v1/device?user_code=${code}`, {}, session)
        expect([seen.status, seen.text]).toEqual([404, expect.stringContaining('role="alert"')])
        const { status } = await submit(
          { user_code: code, verdict: 'approved', csrf_token: session.csrfToken },
          session,
        )
        expect([status, await stateOf(code)]).toEqual([404, 'pending'])
      })

      it('does not see what somebody else has decided', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        await plane.decide('approve', code, session)
        const { session: other } = await plane.person()
        expect((await visit(`/v1/device?user_code=${code}`, {}, other)).status).toBe(404)
      })

      it('signs in again when the sign-in is older than 15 minutes', async () => {
        const { user_code: code } = await plane.begin()
        const { id } = await plane.person()
        const session = await plane.browser.open(id, plane.clock.nowMs - 15 * MINUTE)
        const seen = await visit(`/v1/device?user_code=${code}`, {}, session)
        expect([seen.status, seen.text]).toEqual([
          401,
          expect.stringContaining(`href="/v1/device?user_code=${code}&amp;sign_in=1"`),
        ])
        const posted = await submit({ user_code: code, verdict: 'approved', csrf_token: session.csrfToken }, session)
        expect([posted.status, await stateOf(code)]).toEqual([401, 'pending'])
        const { status } = await visit(`/v1/device?user_code=${code}&sign_in=1`, {}, session)
        expect([status, orders.at(-1)]).toMatchObject([
          303,
          { where: { domain_id: plane.home }, asked: { maxAgeSeconds: 900 } },
        ])
      })

      it('has five wrong codes a minute, looks and forms together', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const members = { user_code: 'BCDF-GHJK', verdict: 'approved', csrf_token: session.csrfToken }
        for (const tried of [1, 2, 3])
          expect([tried, (await visit('/v1/device?user_code=BCDF-GHJK', {}, session)).status]).toEqual([tried, 404])
        for (const tried of [4, 5]) expect([tried, (await submit(members, session)).status]).toEqual([tried, 404])
        const seen = await visit(`/v1/device?user_code=${code}`, {}, session)
        expect([seen.status, seen.headers.get('retry-after')]).toEqual([429, '60'])
        expect((await plane.decide('approve', code, session)).status).toBe(429)
        expect(await plane.audit(seen)).toMatchObject({ outcome: 'invariant_violation', reason: 'rate_limited' })
      })

      it.each(['', 'maybe'])('has to say what is meant: "%s" decides nothing', async (verdict) => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const { status } = await submit({ user_code: code, verdict, csrf_token: session.csrfToken }, session)
        expect([status, await stateOf(code)]).toEqual([400, 'pending'])
      })

      it('is warned when the device asks from another address', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        expect((await visit(`/v1/device?user_code=${code}`, {}, session)).text).not.toContain('another address')
        await plane.db
          .updateTable('device_sign_ins')
          .set({ source_address: '198.51.100.7' })
          .where('user_code', '=', code.replace('-', ''))
          .execute()
        expect((await visit(`/v1/device?user_code=${code}`, {}, session)).text).toContain(
          'another address than yours (127.0.0.1)',
        )
      })
    })
  })
})
