import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSessionSweeper } from '../../src/server/slices/sessions/session-sweeper.ts'
import { startAccess, type Access, type Answer, type Person, type Session } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const CLEARED = [
  'service_session=; Path=/v1/; SameSite=Strict; HttpOnly; Max-Age=0',
  'service_csrf=; Path=/v1/; SameSite=Strict; Max-Age=0',
  'ctl_idp_session=; Path=/idp; SameSite=Lax; HttpOnly; Max-Age=0',
  'ctl_idp_session.sig=; Path=/idp; SameSite=Lax; HttpOnly; Max-Age=0',
]

describe.each(STORES)('browser sessions on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let ann: Person

    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
    })
    beforeEach(async () => {
      access.clock.nowMs = START_MS
      ann = await access.person(domainId, 'user')
    })
    afterAll(() => access.stop())

    const whoami = (credential: string) => access.call(credential, 'GET /v1/auth/whoami')
    const statusOf = async (credential: string) => (await whoami(credential)).status
    const listed = async (credential: string) =>
      [...(await access.call(credential, 'GET /v1/auth/sessions')).body].map(({ id }) => id)
    const rowOf = (id: string) => access.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
    const after = (ms: number) => {
      access.clock.nowMs = START_MS + ms
    }

    describe('as credentials', () => {
      test('say who signed in, when and how strongly', async () => {
        const { id, cookie } = await access.session(ann, { acr: 'urn:acme:mfa', authTimeMs: START_MS - MINUTE_MS })
        const answer = await whoami(cookie)
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({
          subject: ann.subject,
          kind: 'user',
          domain_id: domainId,
          domain_slug: 'acme',
          domain_display_name: 'acme',
          display_name: `P ${ann.id}`,
          credential: { type: 'session', id, scopes: ['*'], expires_at: '2026-03-08T08:00:00.000Z' },
          auth_time: '2026-03-01T07:59:00.000Z',
          acr: 'urn:acme:mfa',
        })
      })

      test('are stored as a digest of what the browser holds', async () => {
        const { id, value } = await access.session(ann)
        expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/)
        const row = await rowOf(id)
        expect(row?.fingerprint).toHaveLength(32)
        expect(JSON.stringify(row)).not.toContain(value)
      })

      test('resolve at once when they were seen before', async () => {
        const { value } = await access.session(ann)
        const first = access.sessionResolver.resolve(value)
        expect(first).toBeInstanceOf(Promise)
        expect(access.sessionResolver.resolve(value)).toBeInstanceOf(Promise)
        const caller = await first
        expect(access.sessionResolver.resolve(value)).toBe(caller)
      })

      test('are not guessed: another value of the same form, every change of a letter, the text of a token', async () => {
        const { value } = await access.session(ann)
        const changed = Array.from(
          value,
          (letter, at) => value.slice(0, at) + (letter === 'A' ? 'B' : 'A') + value.slice(at + 1),
        )
        for (const text of [...changed, ann.token, '', value.slice(1), `${value}A`]) {
          expect(await statusOf(`service_session=${text}`)).toBe(401)
        }
        expect(await statusOf(`service_session=${value}`)).toBe(200)
      })

      test('do not work as bearer tokens, nor tokens as sessions', async () => {
        const { value } = await access.session(ann)
        expect(await statusOf(value)).toBe(401)
        expect(await statusOf(`service_session=${ann.token}`)).toBe(401)
      })

      test('come second: whichever of token and session resolves is the caller, the token first', async () => {
        const bea = await access.person(domainId, 'user')
        const { cookie } = await access.session(bea)
        const both = (token: string) => access.send({ authorization: `Bearer ${token}`, cookie }, 'GET /v1/auth/whoami')
        expect((await both(ann.token)).body.subject).toBe(ann.subject)
        expect((await both('psk_test_nonsense')).body.subject).toBe(bea.subject)
        expect(
          (
            await access.send(
              { authorization: `Bearer ${ann.token}`, cookie: 'service_session=nonsense' },
              'GET /v1/auth/whoami',
            )
          ).body.subject,
        ).toBe(ann.subject)
      })

      test('of a disabled user are refused', async () => {
        const { value } = await access.session(ann)
        await access.db
          .updateTable('principals')
          .set({ disabled_at: new Date(START_MS) })
          .where('id', '=', ann.id)
          .execute()
        expect(await access.sessionResolver.resolve(value)).toEqual({
          refused: true,
          log: 'session of a disabled user',
        })
      })

      test('issue tokens for oneself', async () => {
        const { cookie } = await access.session(ann)
        const issued = await access.call(cookie, 'POST /v1/auth/tokens', { name: 'mine' })
        expect(issued.status).toBe(201)
        // Not bound to the life of the session, as one that a token issues is to the token's.
        expect(issued.body.expires_at).toBe('2026-05-30T08:00:00.000Z')
        expect((await whoami(issued.body.token)).body.subject).toBe(ann.subject)
        expect((await access.call(cookie, `DELETE /v1/auth/tokens/${issued.body.id}`)).status).toBe(204)
      })
    })

    describe('end', () => {
      test('7 days after the sign-in, however often they are used', async () => {
        const { cookie } = await access.session(ann)
        for (let hours = 11; hours < 168; hours += 11) {
          after(hours * HOUR_MS)
          expect(await statusOf(cookie)).toBe(200)
        }
        after(7 * DAY_MS - 1)
        expect(await statusOf(cookie)).toBe(200)
        after(7 * DAY_MS)
        expect(await statusOf(cookie)).toBe(401)
        expect(await statusOf(cookie)).toBe(401)
      })

      test('after 12 hours without use', async () => {
        const { cookie } = await access.session(ann)
        after(12 * HOUR_MS - 1)
        expect(await statusOf(cookie)).toBe(200)
        after(24 * HOUR_MS - 2)
        expect(await statusOf(cookie)).toBe(200)
        after(36 * HOUR_MS - 2)
        expect(await statusOf(cookie)).toBe(401)
      })

      test('not while another replica sees them', async () => {
        const replica = await access.replica()
        const { value, cookie } = await access.session(ann)
        await replica.sessionResolver.resolve(value)
        after(11 * HOUR_MS)
        expect(await statusOf(cookie)).toBe(200)
        await access.sessionUses.flush()
        after(13 * HOUR_MS)
        expect(await replica.sessionResolver.resolve(value)).toMatchObject({ subject: ann.subject })
        await replica.stop()
      })

      test('for good: time that goes back does not bring them back', async () => {
        const { cookie, id } = await access.session(ann)
        expect((await access.call(cookie, 'DELETE /v1/auth/whoami')).status).toBe(204)
        expect(await statusOf(cookie)).toBe(401)
        expect(await rowOf(id)).toBeUndefined()
      })

      test('when the 51st of a person begins: the oldest', async () => {
        const opened: Session[] = []
        for (let count = 0; count < 51; count++) {
          after(count * 1000)
          opened.push(await access.session(ann))
        }
        expect(await statusOf(opened[0]?.cookie ?? '')).toBe(401)
        expect(await statusOf(opened[1]?.cookie ?? '')).toBe(200)
        expect(await listed(opened[50]?.cookie ?? '')).toHaveLength(50)
      })

      test('when the same browser signs in anew, and no other does', async () => {
        const [old, elsewhere] = [await access.session(ann), await access.session(ann)]
        expect(await statusOf(old.cookie)).toBe(200)
        const next = await access.session(ann, { replaces: old.value })
        expect(await Promise.all([old, elsewhere, next].map(({ cookie }) => statusOf(cookie)))).toEqual([401, 200, 200])
      })

      test('with the binding that they began with', async () => {
        const bindingId = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
        const [one, other] = [await access.session(ann, { bindingId }), await access.session(ann)]
        expect(await statusOf(one.cookie)).toBe(200)
        expect(await access.change((change) => access.sessions.endAllOfBinding(change, bindingId))).toBe(1)
        expect([await statusOf(one.cookie), await statusOf(other.cookie)]).toEqual([401, 200])
      })

      test.skipIf(store.name === 'embedded')('on other replicas within their lease', async () => {
        const replica = await access.replica()
        const { cookie, value } = await access.session(ann)
        expect(await replica.sessionResolver.resolve(value)).toMatchObject({ subject: ann.subject })
        await access.call(cookie, 'DELETE /v1/auth/whoami')
        await expect
          .poll(() => replica.sessionResolver.resolve(value), { timeout: 1500, interval: 20 })
          .toEqual({ refused: true, log: 'unknown or ended session' })
        await replica.stop()
      })

      test('and are swept, those that are live are not', async () => {
        const idle = await access.session(ann)
        after(6 * DAY_MS + 13 * HOUR_MS)
        const live = await access.session(ann)
        after(7 * DAY_MS)
        const sweeper = createSessionSweeper({ clock: { now: () => access.clock.nowMs }, ids: { next: () => 'sweep' } })
        const unitOfWork = { run: (_: unknown, work: Parameters<Access['change']>[0]) => access.change(work) }
        // A job needs of its leader the changes alone.
        await sweeper.run({ unitOfWork } as unknown as Parameters<typeof sweeper.run>[0])
        expect(await rowOf(idle.id)).toBeUndefined()
        expect(await rowOf(live.id)).toBeDefined()
      })
    })

    describe('are noted as seen', () => {
      const seen = async (id: string) => {
        await access.sessionUses.flush()
        return (await rowOf(id))?.last_seen_at.getTime()
      }
      test('once a minute, behind the answer', async () => {
        const { cookie, id } = await access.session(ann)
        after(59_999)
        await whoami(cookie)
        expect(await seen(id)).toBe(START_MS)
        after(60_000)
        await whoami(cookie)
        expect(await seen(id)).toBe(START_MS + 60_000)
      })
    })

    describe('DELETE /v1/auth/whoami', () => {
      const signOut = (headers: Readonly<Record<string, string>>) => access.send(headers, 'DELETE /v1/auth/whoami')

      test('ends the session of this browser alone, and clears its cookies', async () => {
        const [here, elsewhere] = [await access.session(ann), await access.session(ann)]
        const answer = await signOut({ cookie: here.cookie })
        expect([answer.status, answer.body]).toEqual([204, undefined])
        expect(answer.headers.getSetCookie()).toEqual(CLEARED)
        expect([await statusOf(here.cookie), await statusOf(elsewhere.cookie)]).toEqual([401, 200])
        expect(await access.audited(answer)).toMatchObject([
          { relation: 'auth.session.terminate', object: ann.subject, outcome: 'granted' },
        ])
      })

      test.each([
        ['nobody', {}],
        ['a cookie that is no session', { cookie: 'service_session=nonsense' }],
        ['a session that never was', { cookie: `service_session=${'A'.repeat(43)}` }],
        ['a foreign origin', { origin: 'https://evil.example' }],
        ['another site', { 'sec-fetch-site': 'cross-site' }],
      ])('is 204 for %s', async (_, headers) => {
        const answer = await signOut(headers)
        expect(answer.status).toBe(204)
        expect(answer.headers.getSetCookie()).toEqual(CLEARED)
      })

      test('is 204 the second time', async () => {
        const { cookie } = await access.session(ann)
        expect([(await signOut({ cookie })).status, (await signOut({ cookie })).status]).toEqual([204, 204])
      })
    })

    describe('POST /v1/auth/sign-out/global', () => {
      const OPERATION = 'POST /v1/auth/sign-out/global'

      test('ends every session of the caller, says so in its event and audit row, and clears the cookies', async () => {
        const bea = await access.person(domainId, 'user')
        const [here, elsewhere, beas] = [
          await access.session(ann),
          await access.session(ann),
          await access.session(bea),
        ]
        after(13 * HOUR_MS)
        const late = await access.session(ann)
        const answer = await access.call(late.cookie, OPERATION)
        expect([answer.status, answer.body]).toEqual([204, undefined])
        expect(answer.headers.getSetCookie()).toEqual(CLEARED)
        // Those that had idled too long were no sessions any more.
        expect(await access.outbox(answer)).toEqual([
          {
            event: 'identity.UserSignedOut',
            aggregate: ann.subject,
            domain_id: domainId,
            payload: { sessions_revoked: 1 },
          },
        ])
        expect(await access.audited(answer)).toMatchObject([
          {
            subject: ann.subject,
            relation: 'auth.session.terminate.global',
            object: ann.subject,
            outcome: 'granted',
            context: { sessions_revoked: 1 },
          },
        ])
        after(0)
        expect(await Promise.all([here, elsewhere, late, beas].map(({ cookie }) => statusOf(cookie)))).toEqual([
          401, 401, 401, 200,
        ])
      })

      test('counts what it ends, and leaves tokens alone', async () => {
        const sessions = [await access.session(ann), await access.session(ann), await access.session(ann)]
        const answer = await access.call(sessions[0]?.cookie ?? '', OPERATION)
        expect((await access.outbox(answer)).map(({ payload }) => payload)).toEqual([{ sessions_revoked: 3 }])
        expect(await statusOf(ann.token)).toBe(200)
      })

      test('is for sessions alone', async () => {
        const { cookie } = await access.session(ann)
        const answer = await access.call(ann.token, OPERATION)
        expect([answer.status, answer.body.code]).toEqual([403, 'session_required'])
        expect(answer.headers.getSetCookie()).toEqual([])
        expect(await statusOf(cookie)).toBe(200)
        expect((await access.audited(answer))[0]?.outcome).toBe('permission_denied')
      })

      test('takes no body', async () => {
        const { cookie } = await access.session(ann)
        const answer = await access.call(cookie, OPERATION, { all: true })
        expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body'])
        expect(await statusOf(cookie)).toBe(200)
      })
    })

    describe('GET /v1/auth/sessions', () => {
      test("shows one's own, newest first, and which of them asks", async () => {
        await access.session(await access.person(domainId, 'user'))
        const old = await access.session(ann)
        after(MINUTE_MS)
        const own = await access.session(ann, { acr: 'mfa', amr: ['pwd', 'otp'], userAgent: 'Firefox' })
        const answer = await access.call(own.cookie, 'GET /v1/auth/sessions')
        expect(answer.body).toEqual([
          {
            id: own.id,
            current: true,
            created_at: '2026-03-01T08:01:00.000Z',
            last_seen_at: '2026-03-01T08:01:00.000Z',
            expires_at: '2026-03-08T08:01:00.000Z',
            idle_expires_at: '2026-03-01T20:01:00.000Z',
            auth_time: '2026-03-01T08:01:00.000Z',
            acr: 'mfa',
            amr: ['pwd', 'otp'],
            source_address: '203.0.113.7',
            user_agent: 'Firefox',
          },
          expect.objectContaining({ id: old.id, current: false, acr: null }),
        ])
      })

      test('shows them to a token of the person, as none of them', async () => {
        const { id } = await access.session(ann)
        const { body } = await access.call(ann.token, 'GET /v1/auth/sessions')
        expect([...body].map((each) => [each.id, each.current])).toEqual([[id, false]])
      })

      test('leaves out what has ended', async () => {
        await access.session(ann)
        after(12 * HOUR_MS)
        const { id, cookie } = await access.session(ann)
        expect(await listed(cookie)).toEqual([id])
      })
    })

    describe('DELETE /v1/auth/sessions/{id}', () => {
      const revoke = (credential: string, id: string) => access.call(credential, `DELETE /v1/auth/sessions/${id}`)
      const codeOf = ({ status, body }: Answer) => [status, body.code]

      test("ends one of one's own", async () => {
        const [here, lost] = [await access.session(ann), await access.session(ann)]
        expect(await statusOf(lost.cookie)).toBe(200)
        expect((await revoke(here.cookie, lost.id)).status).toBe(204)
        expect([await statusOf(here.cookie), await statusOf(lost.cookie)]).toEqual([200, 401])
      })

      test("does not find another's, one that is gone, one that never was", async () => {
        const theirs = await access.session(await access.person(domainId, 'user'))
        const own = await access.session(ann)
        expect(codeOf(await revoke(own.cookie, theirs.id))).toEqual([404, 'session_not_found'])
        expect(await statusOf(theirs.cookie)).toBe(200)
        const lost = await access.session(ann)
        await revoke(own.cookie, lost.id)
        expect(codeOf(await revoke(own.cookie, lost.id))).toEqual([404, 'session_not_found'])
        const never = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
        expect(codeOf(await revoke(own.cookie, never))).toEqual([404, 'session_not_found'])
      })

      test.each(['nonsense', '00000000-0000-0000-0000-000000000000'])('refuses the id %s', async (id) => {
        const { cookie } = await access.session(ann)
        expect(codeOf(await revoke(cookie, id))).toEqual([400, 'invalid_session_id'])
      })
    })

    describe('changes that a browser makes', () => {
      const issue = (cookie: string, headers: Readonly<Record<string, string>>) =>
        access.send({ cookie, ...headers }, 'POST /v1/auth/tokens', { name: 'mine' })

      test.each([
        ['another origin', { origin: 'https://evil.example' }],
        [
          'another origin that says it is this one',
          { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
        ],
        ['an opaque origin', { origin: 'null' }],
        ['another site that names no origin', { 'sec-fetch-site': 'cross-site' }],
        ['a sibling that names no origin', { 'sec-fetch-site': 'same-site' }],
      ])('are refused from %s, with a session; nothing is made', async (_, headers) => {
        const { cookie } = await access.session(ann)
        const answer = await issue(cookie, headers)
        expect([answer.status, answer.body.code]).toEqual([403, 'origin_not_allowed'])
        expect([...(await access.call(ann.token, 'GET /v1/auth/tokens')).body]).toHaveLength(1)
      })

      test.each([
        ['an allowed origin', { origin: 'https://console.example' }],
        ['this origin', { 'sec-fetch-site': 'same-origin' }],
        ['no browser', {}],
      ])('are taken from %s', async (_, headers) => {
        const { cookie } = await access.session(ann)
        expect((await issue(cookie, headers)).status).toBe(201)
      })

      test('are not held to an origin with a token, whatever cookies come along', async () => {
        const headers = { authorization: `Bearer ${ann.token}`, origin: 'https://evil.example' }
        const { cookie } = await access.session(ann)
        expect((await issue(cookie, headers)).status).toBe(201)
      })

      test('are held to it where the token does not resolve and the session does', async () => {
        const headers = { authorization: 'Bearer psk_test_nonsense', origin: 'https://evil.example' }
        const { cookie } = await access.session(ann)
        expect((await issue(cookie, headers)).status).toBe(403)
      })
    })
  })
})
