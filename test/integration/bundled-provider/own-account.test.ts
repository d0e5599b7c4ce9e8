import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { HashingBusy } from '../../../src/server/slices/local-accounts/password-hash.ts'
import { hashing } from '../../support/server/hashing.ts'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../../support/sign-in/local-provider.ts'
import type { OpenSession } from '../../support/sign-in/browser-sessions.ts'
import { meet, places, statementsOf } from '../../support/run/meeting.ts'
import { pausingDatastore } from '../../support/datastores/pausing-datastore.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NEXT = 'four otters at dawn'
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const MINUTE_MS = 60_000

describe.each(STORES)('The page of a local account on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const pausing = pausingDatastore()
    let local: LocalProvider
    let serial = 0
    let login: string
    let id: string
    let userId: string
    let session: OpenSession
    beforeAll(async () => {
      local = await startLocalProvider({ ...store, open: async () => pausing.over(await store.open()) })
    })
    afterAll(() => local.stop())
    beforeEach(async () => {
      serial += 1
      login = `ana-${serial}`
      local.tenancy.clock.nowMs += 3_600_000
      ;({ id, userId } = await local.account(login))
      session = await local.browser(userId)
    })

    async function ask(method: 'GET' | 'POST', path: string, fields: Record<string, string> = {}, as = session) {
      const answer = await fetch(`${local.tenancy.url}/v1/account${path}`, {
        method,
        headers: { accept: 'text/html', cookie: `service_session=${as.cookie}` },
        ...(method === 'POST' && { body: new URLSearchParams({ csrf_token: as.csrfToken, ...fields }) }),
        redirect: 'manual',
      })
      return { answer, status: answer.status, text: await answer.text() }
    }
    const change = (fields: Record<string, string> = {}) =>
      ask('POST', '/password', { current_password: PASSWORD, password: NEXT, again: NEXT, ...fields })
    const alertIn = ({ text }: { readonly text: string }) => /role="alert"[^>]*>([^<]*)</.exec(text)?.[1]
    const codesIn = ({ text }: { readonly text: string }) =>
      [...text.matchAll(/<li>([a-z0-9-]{17})<\/li>/g)].map(([, code]) => code ?? '')
    const tryPassword = (password: string) => local.signIn.tryPassword({ login, password, sourceAddress: '192.0.2.1' })
    const tryCode = (code: string) => local.signIn.tryRecoveryCode({ accountId: id, code, sourceAddress: '192.0.2.1' })
    const codesStored = () =>
      local.tenancy.db.selectFrom('local_recovery_codes').selectAll().where('account_id', '=', id).execute()
    const auditOf = (answer: Response) =>
      local.tenancy.db
        .selectFrom('audit')
        .select(['subject', 'relation', 'outcome'])
        .where('correlation_id', '=', answer.headers.get('x-correlation-id') ?? '')
        .execute()

    async function withApp(): Promise<void> {
      const code = new TOTP({ secret: SECRET }).generate({ timestamp: local.tenancy.clock.nowMs })
      expect(await local.signIn.enrolTotp({ accountId: id, secret: SECRET, code })).toBe(true)
      session = await local.browser(userId, local.tenancy.clock.nowMs, 'mfa')
    }

    it('begins a sign-in for somebody who is signed out, and comes back; once', async () => {
      const out = { ...session, cookie: 'none' }
      const { status, answer } = await ask('GET', '', {}, out)
      expect([status, answer.headers.get('location')]).toEqual([303, '/sign-in?then=/v1/account?returned=1'])
      expect((await ask('GET', '?returned=1', {}, out)).answer.headers.get('location')).toBe('/')
    })

    describe('changes the password', () => {
      it('of whoever knows the one they have, ends the other sessions and says so in the audit log', async () => {
        const { answer, status } = await change()
        expect([status, answer.headers.get('location')]).toEqual([303, '/v1/account?done=password'])
        expect(local.ended.at(-1)).toBe(`${userId} but ${session.id}`)
        expect(await auditOf(answer)).toEqual([
          { subject: `user:${userId}`, relation: 'local_account.password', outcome: 'granted' },
        ])
        expect((await ask('GET', '?done=password')).text).toContain('Your password is changed')
        expect(await tryPassword(PASSWORD)).toBe('refused')
        expect(await tryPassword(NEXT)).toMatchObject({ id })
      })

      it.each([
        ['a wrong current password', { current_password: 'not the password' }, 'The current password is wrong.'],
        ['two that differ', { again: 'four otters at noon' }, 'The two new passwords differ.'],
        ['a short one', { password: 'short', again: 'short' }, 'at least 12 characters'],
        ['the one that they have', { password: PASSWORD, again: PASSWORD }, 'the password that you have'],
      ])('not with %s', async (_, fields, sentence) => {
        const refused = await change(fields)
        expect(refused.status).toBe(400)
        expect(alertIn(refused)).toContain(sentence)
        expect(await tryPassword(PASSWORD)).toMatchObject({ id })
      })

      it('counts wrong guesses as a sign-in does: after five the right one is refused for a while, and audited', async () => {
        for (let guess = 0; guess < 5; guess += 1) await change({ current_password: `guess number ${guess}` })
        expect(alertIn(await change())).toContain('The current password is wrong.')
        expect(local.refused.at(-1)).toMatchObject({
          subject: `user:${userId}`,
          relation: 'local_account.password',
          outcome: 'permission_denied',
          reason: 'too_many_failures',
        })
        expect(await tryPassword(PASSWORD)).toBe('refused')
        local.tenancy.clock.nowMs += 31_000
        expect((await change()).status).toBe(303)
      })

      it('does not count a guess that was not checked, as hashing was busy', async () => {
        const matches = vi.spyOn(hashing, 'matches').mockRejectedValue(new HashingBusy())
        onTestFinished(() => matches.mockRestore())
        expect(alertIn(await change())).toContain('Try again in a few seconds.')
        const row = local.tenancy.db.selectFrom('local_accounts').select('failed_count').where('id', '=', id)
        expect(await row.executeTakeFirst()).toEqual({ failed_count: 0 })
      })

      it('not by a form that lacks the token of the session', async () => {
        const other = await local.browser(userId)
        for (const csrf_token of ['', other.csrfToken]) {
          const refused = await change({ csrf_token })
          expect(refused.status).toBe(403)
        }
        expect(await tryPassword(PASSWORD)).toMatchObject({ id })
      })
    })

    describe('makes recovery codes', () => {
      const make = () => ask('POST', '/recovery-codes')

      it('and shows them this once; what is stored says nothing of them', async () => {
        await withApp()
        const made = await make()
        const codes = codesIn(made)
        expect([made.status, new Set(codes).size]).toEqual([200, 10])
        expect(made.answer.headers.get('cache-control')).toBe('no-store')
        expect(await auditOf(made.answer)).toMatchObject([
          { relation: 'local_account.recovery_codes', outcome: 'granted' },
        ])
        const again = await ask('GET', '')
        expect(codesIn(again)).toEqual([])
        expect(again.text).toContain('10 are left')
        const stored = JSON.stringify(await codesStored())
        expect(codes.filter((code) => stored.includes(code))).toEqual([])
      })

      it('anew, and those before work no more', async () => {
        await withApp()
        const [old = ''] = codesIn(await make())
        const [fresh = ''] = codesIn(await make())
        expect([await tryCode(old), await tryCode(fresh)]).toEqual([false, true])
      })

      it.each([
        ['of a sign-in that is too old', 16 * MINUTE_MS, 'mfa'],
        ['of a sign-in with the password alone', 0, 'pwd'],
      ])('not with a session %s: that has to sign in again', async (_, ageMs, acr) => {
        await withApp()
        session = await local.browser(userId, local.tenancy.clock.nowMs - ageMs, acr)
        expect((await make()).answer.headers.get('location')).toBe('/v1/account')
        expect(await codesStored()).toEqual([])
        expect((await ask('GET', '')).text).toContain('Sign in again')
        expect((await ask('GET', '?sign_in=1')).answer.headers.get('location')).toBe('/sign-in?then=/v1/account')
      })

      it('for nobody without a second factor', async () => {
        session = await local.browser(userId, local.tenancy.clock.nowMs, 'mfa')
        expect((await make()).status).toBe(303)
        expect(await codesStored()).toEqual([])
      })

      it.each([{ reset_second_factors: true }, { reset_password: true }])(
        'that go where an administrator resets the account: %o',
        async (patch) => {
          await withApp()
          await make()
          expect(await codesStored()).toHaveLength(10)
          const answer = await local.tenancy.call(local.tenancy.root, `PATCH /v1/admin/users/${id}`, patch)
          expect(answer.status).toBe(200)
          expect(await codesStored()).toEqual([])
        },
      )

      async function removeApp(): Promise<void> {
        const headers = { cookie: `service_session=${session.cookie}` }
        const listed = await fetch(`${local.tenancy.url}/v1/auth/factors`, { headers })
        const [factor] = (await listed.json()) as readonly { readonly id: string }[]
        const path = `/v1/auth/factors/${factor?.id}`
        expect((await fetch(`${local.tenancy.url}${path}`, { method: 'DELETE', headers })).status).toBe(204)
      }

      it('that go with the last second factor', async () => {
        await withApp()
        await make()
        await removeApp()
        expect(await codesStored()).toEqual([])
      })

      it('that go with the last second factor where it is removed at the same time', async () => {
        await withApp()
        const statements = await statementsOf(pausing, make)
        await removeApp()
        for (const behind of places(statements)) {
          local.tenancy.clock.nowMs += MINUTE_MS
          await withApp()
          const [made] = await meet(pausing, behind, { first: make, second: removeApp })
          expect([200, 303]).toContain(made.status)
          expect(await codesStored()).toEqual([])
        }
      })
    })

    it('sends the forms of strangers to the start page', async () => {
      const stranger = { ...session, cookie: 'A'.repeat(43) }
      expect((await ask('POST', '/password', {}, stranger)).answer.headers.get('location')).toBe('/')
    })

    it('tells people of another provider where their password is kept', async () => {
      const other = (await local.tenancy.principal(local.tenancy.home)).replace('user:', '')
      const shown = await ask('GET', '', {}, await local.browser(other))
      expect(shown.text).toContain('your identity provider keeps your password')
    })
  })
})
