import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { problem } from '../../src/shared/problems.ts'
import type { SignInOrder } from '../../src/server/slices/device-flow/start-sign-in.ts'
import { cookiesOf, startDevicePlane, type DeviceCodes, type DevicePlane } from '../support/sign-in/device-plane.ts'
import type { OpenSession } from '../support/sign-in/browser-sessions.ts'
import { STORES } from '../support/datastores/stores.ts'

const SECOND = 1000
const ASKED = { acr_values: 'mfa phr', max_age: 300 }
const CHALLENGE = 'Bearer error="insufficient_user_authentication", acr_values="mfa phr", max_age="300"'

describe.each(STORES)('a device that asks for a sign-in, on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    const orders: SignInOrder[] = []
    let startedAtMs: number

    beforeAll(async () => {
      plane = await startDevicePlane(store, {
        async startSignIn(order) {
          orders.push(order)
          if (order.where.idp_binding_alias === 'gone') throw problem('alias-not-found')
          return { location: 'https://idp.example/authorize', cookies: [] }
        },
      })
      startedAtMs = plane.clock.nowMs
    })
    beforeEach(() => {
      plane.clock.nowMs = startedAtMs += 3_600_000
    })
    afterAll(() => plane?.stop())

    /** A person of the Domain whose session began so many seconds ago. */
    async function signedIn(acr: string | undefined, secondsAgo = 0): Promise<OpenSession> {
      const { id } = await plane.person()
      return plane.browser.open(id, plane.clock.nowMs - secondsAgo * SECOND, acr)
    }

    const stateOf = async ({ user_code: code }: DeviceCodes) =>
      plane.db
        .selectFrom('device_sign_ins')
        .select(['state', 'approver_acr', 'approver_auth_time'])
        .where('user_code', '=', code.replace('-', ''))
        .executeTakeFirstOrThrow()

    async function page(address: string, session?: OpenSession) {
      const cookie = session === undefined ? {} : { cookie: cookiesOf(session)['cookie'] ?? '' }
      const headers = { accept: 'text/html', 'sec-fetch-site': 'none', ...cookie }
      const response = await fetch(`${plane.url}${address}`, { redirect: 'manual', headers })
      return { status: response.status, location: response.headers.get('location'), text: await response.text() }
    }

    async function whoami(token: unknown) {
      const headers = { authorization: `Bearer ${String(token)}` }
      const response = await fetch(`${plane.url}/v1/auth/whoami`, { headers })
      return (await response.json()) as Readonly<Record<string, unknown>>
    }

    describe('at its beginning', () => {
      it('finds what it asked for repeated in the address with everything in it', async () => {
        const { verification_uri_complete: complete } = await plane.begin(ASKED)
        const { searchParams } = new URL(complete)
        expect([searchParams.get('acr_values'), searchParams.get('max_age')]).toEqual(['mfa phr', '300'])
      })

      it('may send a form, whose numbers are digits', async () => {
        const members = { acr_values: 'mfa', max_age: '300', token_expires_in_seconds: '900' }
        const { status, body } = await plane.post('/v1/auth/device-code', new URLSearchParams(members))
        expect(status).toBe(200)
        expect(String(body['verification_uri_complete'])).toContain('acr_values=mfa&max_age=300')
      })

      it.each([
        [{ acr_values: '' }],
        [{ acr_values: ' mfa' }],
        [{ acr_values: 'mfa  phr' }],
        [{ acr_values: 'm"fa' }],
        [{ acr_values: 'mü' }],
        [{ acr_values: 'x'.repeat(257) }],
        [{ acr_values: Array.from({ length: 17 }, (_, at) => `v${at}`).join(' ') }],
        [{ acr_values: ['mfa'] }],
        [{ max_age: 59 }],
        [{ max_age: 86_401 }],
        [{ max_age: '300' }],
        [{ max_age: 300.5 }],
        [{ token_expires_in_seconds: 59 }],
        [{ token_expires_in_seconds: 2_592_001 }],
      ])('is refused %j', async (members) => {
        const { status, body } = await plane.post('/v1/auth/device-code', members)
        expect([status, body['code'], body['error']]).toEqual([400, 'invalid_body', 'invalid_request'])
      })

      it.each(['1e2', '-300', '300 ', '0x12c', ''])('is refused a form with the max_age "%s"', async (maxAge) => {
        const { status } = await plane.post('/v1/auth/device-code', new URLSearchParams({ max_age: maxAge }))
        expect(status).toBe(400)
      })
    })

    describe('is approved through the API', () => {
      it.each([
        ['of another acr', 'pwd', 0],
        ['without an acr', undefined, 0],
        ['that is a second too old', 'mfa', 301],
      ])('by no session %s, and stays undecided', async (_, acr, secondsAgo) => {
        const codes = await plane.begin(ASKED)
        const answer = await plane.decide('approve', codes.user_code, await signedIn(acr, secondsAgo))
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, CHALLENGE])
        expect(answer.body).toMatchObject({ code: 'step_up_required', acr_values: ['mfa', 'phr'], max_age: 300 })
        expect(await stateOf(codes)).toMatchObject({ state: 'pending', approver_acr: null, approver_auth_time: null })
      })

      it('by a session that has one of the values and is old enough to the second', async () => {
        const codes = await plane.begin(ASKED)
        const session = await signedIn('phr', 300)
        expect((await plane.decide('approve', codes.user_code, session)).status).toBe(200)
        expect(await stateOf(codes)).toEqual({
          state: 'approved',
          approver_acr: 'phr',
          approver_auth_time: new Date(plane.clock.nowMs - 300 * SECOND),
        })
      })

      it('is refused by any session', async () => {
        const codes = await plane.begin(ASKED)
        expect((await plane.decide('deny', codes.user_code, await signedIn('pwd'))).status).toBe(200)
        expect(await stateOf(codes)).toMatchObject({ state: 'denied', approver_acr: null })
      })

      it('counts no wrong code where only the sign-in is too weak', async () => {
        const session = await signedIn('pwd')
        const codes = await plane.begin(ASKED)
        for (let tried = 0; tried < 7; tried += 1)
          expect((await plane.decide('approve', codes.user_code, session)).status).toBe(401)
      })
    })

    describe('gets a token', () => {
      async function approved(body: object, session: OpenSession) {
        const codes = await plane.begin(body)
        expect((await plane.decide('approve', codes.user_code, session)).status).toBe(200)
        const { status, body: answer } = await plane.poll(codes.device_code)
        expect(status).toBe(200)
        return answer
      }

      it('that has acr and auth_time of its approver, also where it asked for nothing', async () => {
        for (const body of [ASKED, {}]) {
          const { access_token: token } = await approved(body, await signedIn('mfa', 60))
          expect(await whoami(token)).toMatchObject({
            acr: 'mfa',
            auth_time: new Date(plane.clock.nowMs - 60 * SECOND).toISOString(),
            credential: { type: 'api-token' },
          })
        }
      })

      it('that has neither where the approver has no acr', async () => {
        const { access_token: token } = await approved({}, await signedIn(undefined))
        expect(await whoami(token)).toMatchObject({ acr: null })
      })

      it('that works as long as the device asked, 30 days by default', async () => {
        expect(await approved({}, await signedIn('mfa'))).toMatchObject({ expires_in: 2_592_000 })
        const short = await approved({ token_expires_in_seconds: 900 }, await signedIn('mfa'))
        expect(short).toMatchObject({ expires_in: 900 })
        plane.clock.nowMs += 899 * SECOND
        expect(await whoami(short['access_token'])).toMatchObject({ acr: 'mfa' })
        plane.clock.nowMs += SECOND
        expect(await whoami(short['access_token'])).toMatchObject({ code: 'unauthenticated' })
      })

      it('whose rotation keeps neither: nobody has signed in for the new one', async () => {
        const { access_token: token } = await approved(ASKED, await signedIn('mfa'))
        const { credential } = (await whoami(token)) as { credential: { id: string } }
        const headers = { authorization: `Bearer ${String(token)}` }
        const rotated = await plane.post(`/v1/auth/tokens/${credential.id}/rotate`, {}, headers)
        expect(rotated.status).toBe(200)
        expect(await whoami(rotated.body['token'])).toMatchObject({ acr: null, auth_time: null })
      })

      it('whose own tokens have neither', async () => {
        const { access_token: token } = await approved(ASKED, await signedIn('mfa'))
        const headers = { authorization: `Bearer ${String(token)}` }
        const { body } = await plane.post('/v1/auth/tokens', { name: 'more' }, headers)
        expect(await whoami(body['token'])).toMatchObject({ acr: null, auth_time: null })
      })
    })

    describe('is shown on the page', () => {
      it('with what it asked for, to a person whose session will do', async () => {
        const { user_code: code } = await plane.begin({ ...ASKED, token_expires_in_seconds: 900 })
        const { status, text } = await page(`/v1/device?user_code=${code}`, await signedIn('mfa'))
        expect(status).toBe(200)
        expect(text).toContain('<dd>a sign-in with mfa or phr, no older than 5 minutes; yours is one</dd>')
        expect(text).toContain('<dd>15 minutes, unless you revoke its token before</dd>')
        expect(text).toContain('value="approved"')
      })

      it('to a person whose session will not, with a link to that sign-in and no way to approve', async () => {
        const { user_code: code } = await plane.begin(ASKED)
        const { status, text } = await page(`/v1/device?user_code=${code}`, await signedIn('pwd'))
        expect(status).toBe(401)
        expect(text).toContain('This device asks for a sign-in with mfa or phr, no older than 5 minutes.')
        expect(text).toContain(
          `href="/v1/device?user_code=${code}&amp;sign_in=1&amp;acr_values=mfa+phr&amp;max_age=300"`,
        )
        expect(text).not.toContain('value="approved"')
        expect(text).not.toContain('role="alert"')
      })

      it('and the link asks the provider for it, and comes back to the code', async () => {
        const { user_code: code } = await plane.begin(ASKED)
        const session = await signedIn('pwd')
        const { status } = await page(`/v1/device?user_code=${code}&sign_in=1&acr_values=mfa+phr&max_age=300`, session)
        expect([status, orders.at(-1)]).toMatchObject([
          303,
          {
            where: { domain_id: plane.home },
            asked: { acrValues: ['mfa', 'phr'], maxAgeSeconds: 300, mustStateTime: true },
            returnTo: `/v1/device?acr_values=mfa+phr&max_age=300&user_code=${code}&returned=1&stepped_up=1`,
          },
        ])
      })

      it('says in a sentence that a sign-in did not help, and goes nowhere by itself', async () => {
        const { user_code: code } = await plane.begin(ASKED)
        const before = orders.length
        const back = `/v1/device?acr_values=mfa+phr&max_age=300&user_code=${code}&returned=1&stepped_up=1`
        const { status, text } = await page(back, await signedIn('pwd'))
        expect(status).toBe(401)
        expect(text).toContain('role="alert"')
        expect(text).toContain('that sign-in does not meet it either')
        expect(text).not.toContain('http-equiv="refresh"')
        expect(orders).toHaveLength(before)
      })

      it('is asked of a person who is signed out at once', async () => {
        const { verification_uri_complete: complete } = await plane.begin({ ...ASKED, domain: 'home' })
        const { pathname, search } = new URL(complete)
        const { status } = await page(`${pathname}${search}`)
        expect([status, orders.at(-1)]).toMatchObject([
          303,
          { where: { domain: 'home' }, asked: { acrValues: ['mfa', 'phr'], maxAgeSeconds: 300, mustStateTime: true } },
        ])
      })

      it.each(['acr_values=a%22b', 'acr_values=', 'max_age=x', 'max_age=999999'])(
        'asks for nothing where the address is malformed: %s',
        async (members) => {
          await page(`/v1/device?user_code=BCDF-GHJK&${members}`)
          expect(orders.at(-1)).toMatchObject({ asked: {}, returnTo: '/v1/device?user_code=BCDF-GHJK&returned=1' })
        },
      )

      it('keeps what was asked through a choice of providers', async () => {
        const { text } = await page('/v1/device?user_code=BCDF-GHJK&idp_binding_alias=gone&acr_values=mfa&max_age=300')
        expect(text).toContain('acr_values=mfa&amp;max_age=300')
      })

      it('shows the page again where the form is posted with a session that has become too old', async () => {
        const codes = await plane.begin(ASKED)
        const session = await signedIn('mfa', 299)
        plane.clock.nowMs += 2 * SECOND
        const response = await fetch(`${plane.url}/v1/device`, {
          method: 'POST',
          redirect: 'manual',
          headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie: cookiesOf(session)['cookie'] ?? '' },
          body: new URLSearchParams({ user_code: codes.user_code, verdict: 'approved', csrf_token: session.csrfToken }),
        })
        expect([response.status, response.headers.get('location')]).toEqual([
          303,
          `/v1/device?user_code=${codes.user_code}`,
        ])
        expect(await stateOf(codes)).toMatchObject({ state: 'pending' })
        expect((await page(`/v1/device?user_code=${codes.user_code}`, session)).status).toBe(401)
      })
    })
  })
})
