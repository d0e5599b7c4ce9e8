import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEVICE_GRANT } from '../../src/shared/contract/oauth-schemas.ts'
import { createDeviceSweeper } from '../../src/server/slices/device-flow/device-sweeper.ts'
import {
  cookiesOf,
  startDevicePlane,
  type DeviceAnswer,
  type DeviceCodes,
  type DevicePlane,
} from '../support/sign-in/device-plane.ts'
import { STORES } from '../support/datastores/stores.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

const codeOf = ({ status, body }: DeviceAnswer) => [status, body['code'], body['error']]
const PENDING = [400, 'authorization_pending', 'authorization_pending']
const SLOW_DOWN = [400, 'slow_down', 'slow_down']
const INVALID = [400, 'invalid_grant', 'invalid_grant']

describe.each(STORES)('the device flow on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    beforeAll(async () => {
      plane = await startDevicePlane(store)
    })
    afterAll(() => plane?.stop())

    async function approved(body: object = {}): Promise<{ codes: DeviceCodes; personId: string }> {
      const codes = await plane.begin(body)
      const { id, session } = await plane.person()
      expect((await plane.decide('approve', codes.user_code, session)).status).toBe(200)
      return { codes, personId: id }
    }

    describe('a device that begins', () => {
      it('is given codes, the address to go to and how often to ask', async () => {
        const codes = await plane.begin({ client_id: 'tv' })
        expect(codes.device_code).toMatch(/^[\w-]{43}$/)
        expect(codes.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
        expect(codes).toMatchObject({
          verification_uri: 'https://mesh.example/v1/device',
          verification_uri_complete: `https://mesh.example/v1/device?user_code=${codes.user_code}`,
          expires_in: 600,
          interval: 5,
        })
      })

      it('finds where it wants to be signed in repeated in the address with everything in it', async () => {
        const { verification_uri_complete: complete } = await plane.begin({ domain: 'home', idp_binding_alias: 'corp' })
        const { searchParams } = new URL(complete)
        expect([searchParams.get('domain'), searchParams.get('idp_binding_alias')]).toEqual(['home', 'corp'])
      })

      it('may send a form instead of JSON, and is answered without being stored anywhere', async () => {
        const { status, headers } = await plane.post('/v1/auth/device-code', new URLSearchParams({ client_id: 'tv' }))
        expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
      })

      it('leaves no trace of its device code in the datastore', async () => {
        const { device_code: deviceCode } = await plane.begin()
        const rows = await plane.db.selectFrom('device_sign_ins').selectAll().execute()
        expect(
          JSON.stringify(rows.map((row) => ({ ...row, device_code_hash: row.device_code_hash.toString('latin1') }))),
        ).not.toContain(deviceCode)
      })

      it.each(['nonsense', 'tokens:own', 'tokens:read nonsense:read'])('is refused the scope "%s"', async (scope) => {
        expect(codeOf(await plane.post('/v1/auth/device-code', { scope }))).toEqual([
          400,
          'invalid_scope',
          'invalid_scope',
        ])
      })

      it('names its provider by id or by alias, not by both', async () => {
        const both = { idp_binding_id: '019c1a10-0000-7000-8000-000000000001', idp_binding_alias: 'corp' }
        const refused = await plane.post('/v1/auth/device-code', both)
        expect(codeOf(refused)).toEqual([400, 'invalid_body', 'invalid_request'])
        expect(refused.body['errors']).toEqual([
          { pointer: '', detail: 'idp_binding_id and idp_binding_alias exclude each other' },
        ])
      })

      it('is told to come back later when 200 of its address wait', async () => {
        const { db, ids, clock } = plane
        const [row] = await db.selectFrom('device_sign_ins').selectAll().limit(1).execute()
        if (row === undefined) throw new Error('nothing waits')
        const waiting = Array.from({ length: 200 }, (_, at) => ({
          ...row,
          id: ids.next(),
          device_code_hash: Buffer.from(`waits ${at}`),
          user_code: `w${at}`,
          scopes: '["*"]',
          acr_values: '[]',
          state: 'pending' as const,
          source_address: '127.0.0.1',
          expires_at: new Date(clock.nowMs + MINUTE),
        }))
        await db.insertInto('device_sign_ins').values(waiting).execute()
        expect(codeOf(await plane.post('/v1/auth/device-code', {}))).toEqual([
          503,
          'device_flow_exhausted',
          'temporarily_unavailable',
        ])
        await db.deleteFrom('device_sign_ins').where('user_code', 'like', 'w%').execute()
        expect((await plane.post('/v1/auth/device-code', {})).status).toBe(200)
      })
    })

    describe('a device that asks', () => {
      it('is told to wait until somebody has decided', async () => {
        const { device_code: code } = await plane.begin()
        expect(codeOf(await plane.poll(code))).toEqual(PENDING)
        plane.clock.nowMs += 5 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(PENDING)
      })

      it('has to wait 5 s longer, for good, each time it asks too early', async () => {
        const { device_code: code } = await plane.begin()
        await plane.poll(code)
        plane.clock.nowMs += 4 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(SLOW_DOWN)
        plane.clock.nowMs += 9 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(SLOW_DOWN)
        plane.clock.nowMs += 14 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(SLOW_DOWN)
        plane.clock.nowMs += 20 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(PENDING)
        plane.clock.nowMs += 20 * SECOND
        expect(codeOf(await plane.poll(code))).toEqual(PENDING)
      })

      it('is told that its code has expired after 600 s, whether or not it was approved', async () => {
        const { device_code: code } = await plane.begin()
        const { codes } = await approved()
        plane.clock.nowMs += 600 * SECOND
        const expired = [400, 'expired_token', 'expired_token']
        expect(codeOf(await plane.poll(code))).toEqual(expired)
        expect(codeOf(await plane.poll(codes.device_code))).toEqual(expired)
      })

      it('is told that it was refused', async () => {
        const codes = await plane.begin()
        const { session } = await plane.person()
        const answer = await plane.decide('deny', codes.user_code, session)
        expect([answer.status, answer.body['status']]).toEqual([200, 'denied'])
        expect(codeOf(await plane.poll(codes.device_code))).toEqual([400, 'access_denied', 'access_denied'])
      })

      it('is refused with a code that never was, one of another client and another grant', async () => {
        const { device_code: code } = await plane.begin({ client_id: 'tv' })
        expect(codeOf(await plane.poll('nonsense'))).toEqual(INVALID)
        expect(codeOf(await plane.poll(code, { client_id: 'other' }))).toEqual(INVALID)
        expect(codeOf(await plane.poll(code, { grant_type: 'authorization_code' }))).toEqual([
          400,
          'unsupported_grant_type',
          'unsupported_grant_type',
        ])
        expect(codeOf(await plane.poll(code, { client_id: 'tv', grant_type: DEVICE_GRANT }))).toEqual(PENDING)
      })

      it('is given a token of who approved, with the scopes and the name that it asked for', async () => {
        const { codes, personId } = await approved({ scope: 'nodes:read tokens:write', client_name: 'build box' })
        const form = new URLSearchParams({ grant_type: DEVICE_GRANT, device_code: codes.device_code, client_id: 'ctl' })
        const { status, headers, body } = await plane.post('/v1/auth/device-token', form)
        expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
        expect(body).toEqual({
          access_token: expect.stringMatching(/^psk_test_/),
          token_type: 'Bearer',
          expires_in: 2_592_000,
          scope: 'nodes:read tokens:write',
        })
        const me = await plane.call(String(body['access_token']), 'GET /v1/auth/whoami')
        expect(me.body).toMatchObject({
          subject: `user:${personId}`,
          credential: { scopes: ['nodes:read', 'tokens:write'] },
        })
        const listed = await plane.call(String(body['access_token']), 'GET /v1/auth/tokens')
        expect(listed.body).toMatchObject([{ name: 'build box' }])
        const tokens = plane.db.selectFrom('api_tokens').select('self_issued').where('owner_id', '=', personId)
        expect(await tokens.execute()).toEqual([{ self_issued: true }])
        expect(await plane.outbox({ headers })).toMatchObject([{ event: 'APITokenIssued', domain_id: plane.home }])
        expect(await plane.audit({ headers })).toMatchObject({ object: `user:${personId}`, outcome: 'granted' })
      })

      it('gets one token, however often it asks at once', async () => {
        const { codes, personId } = await approved()
        const answers = await Promise.all(Array.from({ length: 8 }, () => plane.poll(codes.device_code)))
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
        expect(answers.filter(({ status }) => status !== 200).map(codeOf)).toEqual(
          Array.from({ length: 7 }, () => INVALID),
        )
        const tokens = await plane.db.selectFrom('api_tokens').select('id').where('owner_id', '=', personId).execute()
        expect(tokens).toHaveLength(1)
      })

      it('gets none when who approved was disabled since', async () => {
        const { codes, personId } = await approved()
        await plane.db
          .updateTable('principals')
          .set({ disabled_at: new Date(plane.clock.nowMs) })
          .where('id', '=', personId)
          .execute()
        expect(codeOf(await plane.poll(codes.device_code))).toEqual([400, 'access_denied', 'access_denied'])
        expect(await plane.db.selectFrom('api_tokens').select('id').where('owner_id', '=', personId).execute()).toEqual(
          [],
        )
      })

      it('is named after its client where it has no name, and without what would mislead readers', async () => {
        const { codes, personId } = await approved({ client_id: 'tv', client_name: ' \u202e\u200b ' })
        await plane.poll(codes.device_code)
        const other = await approved({ client_name: 'Mail\u202egpj.exe\nroot' })
        await plane.poll(other.codes.device_code)
        const rows = await plane.db
          .selectFrom('api_tokens')
          .select('name')
          .where('owner_id', 'in', [personId, other.personId])
          .orderBy('id')
          .execute()
        expect(rows.map(({ name }) => name)).toEqual(['tv', 'Mail gpj.exe root'])
      })
    })

    describe('whoever decides', () => {
      it('may type the code in any case, with blanks and hyphens wherever', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const typed = ` ${code.toLowerCase().replace('-', '')} `.split('').join(' - ')
        const { status, body } = await plane.decide('approve', typed, session)
        expect([status, body]).toMatchObject([
          200,
          { user_code: code, status: 'approved', client_id: 'ctl', scopes: ['*'] },
        ])
      })

      it.each(['', 'AAAA-AAAA', 'BCDF-GHJ', 'BCDF-GHJKL'])('is told that "%s" is no code', async (typed) => {
        const { session } = await plane.person()
        expect(codeOf(await plane.decide('approve', typed, session))).toEqual([400, 'invalid_user_code', undefined])
      })

      it('finds no code of another Domain, as one that never was', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person(await plane.domain())
        const [foreign, unknown] = [
          await plane.decide('approve', code, session),
          await plane.decide('approve', 'BCDF-GHJK', session),
        ]
        expect(codeOf(foreign)).toEqual([404, 'device_session_not_found', undefined])
        expect({ ...foreign.body, correlation_id: '' }).toEqual({ ...unknown.body, correlation_id: '' })
      })

      it.each(['approve', 'deny'] as const)('can %s a code once', async (verdict) => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        expect((await plane.decide(verdict, code, session)).status).toBe(200)
        expect((await plane.decide('approve', code, session)).status).toBe(404)
        expect((await plane.decide('deny', code, session)).status).toBe(404)
      })

      it('finds no code that has expired', async () => {
        const { user_code: code } = await plane.begin()
        plane.clock.nowMs += 600 * SECOND
        const { session } = await plane.person()
        expect((await plane.decide('approve', code, session)).status).toBe(404)
      })

      it('has to have signed in within the last 15 minutes', async () => {
        const { user_code: code } = await plane.begin()
        const { id } = await plane.person()
        const old = await plane.browser.open(id, plane.clock.nowMs - 15 * MINUTE)
        expect(codeOf(await plane.decide('approve', code, old))).toEqual([401, 'reauthentication_required', undefined])
        const young = await plane.browser.open(id, plane.clock.nowMs - 15 * MINUTE + SECOND)
        expect((await plane.decide('approve', code, young)).status).toBe(200)
      })

      it('has five tries a minute, and then not even the right code works until a minute is over', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const wrong = await Promise.all(Array.from({ length: 20 }, () => plane.decide('approve', 'BCDF-GHJK', session)))
        expect(wrong.filter(({ status }) => status === 404)).toHaveLength(5)
        expect(wrong.filter(({ status }) => status === 429)).toHaveLength(15)
        const late = await plane.decide('approve', code, session)
        expect([...codeOf(late), late.headers.get('retry-after')]).toEqual([429, 'rate_limited', undefined, '60'])
        plane.clock.nowMs += MINUTE
        expect((await plane.decide('approve', code, session)).status).toBe(200)
      })

      it('is not counted for codes that are right', async () => {
        const { session } = await plane.person()
        for (let count = 0; count < 8; count += 1) {
          const { user_code: code } = await plane.begin()
          expect((await plane.decide('approve', code, session)).status).toBe(200)
        }
      })

      it('must echo the anti-forgery token, and come from an allowed origin with a session', async () => {
        const { user_code: code } = await plane.begin()
        const { session } = await plane.person()
        const { 'x-csrf-token': token = '', cookie = '' } = cookiesOf(session)
        const decide = async (headers: Readonly<Record<string, string>>) =>
          codeOf(await plane.post('/v1/auth/device/approve', { user_code: code }, headers)).slice(0, 2)
        expect(await decide({ cookie })).toEqual([403, 'csrf_failed'])
        expect(await decide({ cookie, 'x-csrf-token': 'x' })).toEqual([403, 'csrf_failed'])
        expect(await decide({ cookie, 'x-csrf-token': token, origin: 'https://evil.example' })).toEqual([
          403,
          'origin_not_allowed',
        ])
        expect(await decide({ 'x-csrf-token': token })).toEqual([401, 'unauthenticated'])
        expect(await decide({ authorization: `Bearer ${plane.root}`, 'x-csrf-token': token })).toEqual([
          401,
          'unauthenticated',
        ])
        expect((await plane.decide('approve', code, session)).status).toBe(200)
      })
    })

    it('sweeps what expired ten minutes ago, and nothing younger', async () => {
      await plane.db.deleteFrom('device_sign_ins').execute()
      await plane.begin()
      plane.clock.nowMs += MINUTE
      const younger = await plane.begin()
      plane.clock.nowMs += 19 * MINUTE + SECOND
      const leading = { transaction: (work: never) => plane.datastore.transaction('worker', work) }
      expect(await createDeviceSweeper(plane).run(leading as never)).toBe(false)
      expect(await plane.db.selectFrom('device_sign_ins').select('id').execute()).toHaveLength(1)
      expect(codeOf(await plane.poll(younger.device_code))).toEqual([400, 'expired_token', 'expired_token'])
    })
  })
})
