import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPasswordHashing, HashingBusy } from '../../../src/server/slices/local-accounts/password-hash.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { hashing } from '../../support/server/hashing.ts'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../../support/sign-in/local-provider.ts'
import { STORES } from '../../support/datastores/stores.ts'
import type { Tenancy } from '../../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const FROM = '192.0.2.1'

describe.each(STORES)('Local accounts on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let local: LocalProvider
    let tenancy: Tenancy
    let root: string
    beforeAll(async () => {
      local = await startLocalProvider(store)
      ;({ tenancy } = local)
      root = tenancy.root
    })
    afterAll(() => local.stop())

    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const post = (body: object, as = root) =>
      tenancy.call(as, 'POST /v1/admin/users', { display_name: 'Ana', domain_id: tenancy.home, ...body })
    const patch = (id: string, body: object) => tenancy.call(root, `PATCH /v1/admin/users/${id}`, body)
    const tryPassword = (login: string, password = PASSWORD) =>
      local.signIn.tryPassword({ login, password, sourceAddress: FROM })
    const stored = async (id: string) =>
      tenancy.db.selectFrom('local_accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

    it('adds an account with its user, and answers with a password for one time', async () => {
      const answer = await post({ login: 'ana', email: 'Ana@Example.com' })
      expect(answer.status).toBe(201)
      const { id, user_id: userId, one_time_password: password } = answer.body
      expect(answer.body).toEqual({
        id,
        login: 'ana',
        display_name: 'Ana',
        email: 'ana@example.com',
        domain_id: tenancy.home,
        user_id: userId,
        disabled: false,
        must_change_password: true,
        second_factors: [],
        last_sign_in_at: null,
        created_at: '2026-03-01T08:00:00.000Z',
        one_time_password: password,
      })
      expect(password).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/)
      expect(await tenancy.tuplesOf(`user:${String(userId)}`)).toEqual([
        `domain:${tenancy.home} domain user:${String(userId)}`,
      ])
      expect(await tenancy.audit(answer)).toMatchObject({ relation: 'local_account.create', outcome: 'granted' })
      expect(await tryPassword('ana', String(password))).toMatchObject({ id, mustChangePassword: true, domain: 'home' })
      expect(await tryPassword('ana@example.com', String(password))).toMatchObject({ id })
    })

    it('stores scrypt with its parameters, never the password', async () => {
      const { body } = await post({ login: 'hash' })
      const { password_hash: hash } = await stored(String(body['id']))
      expect(hash).toMatch(/^\$scrypt\$ln=10,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/)
      expect(hash).not.toContain(body['one_time_password'])
    })

    it('makes a hash of lesser cost again when its password is right, and no other', async () => {
      const { id } = await local.account('weak-hash')
      const weak = await createPasswordHashing({ log2N: 9, r: 8, p: 1 }).hash(PASSWORD)
      const put = (hash: string) =>
        tenancy.db.updateTable('local_accounts').set({ password_hash: hash }).where('id', '=', id).execute()
      await put(weak)
      expect(await tryPassword('weak-hash', 'not that one at all')).toBe('refused')
      expect((await stored(id)).password_hash).toBe(weak)
      expect(await tryPassword('weak-hash')).toMatchObject({ id })
      const { password_hash: strong } = await stored(id)
      expect(strong).toMatch(/^\$scrypt\$ln=10,r=8,p=1\$/)
      expect(await tryPassword('weak-hash')).toMatchObject({ id })
      expect((await stored(id)).password_hash).toBe(strong)
      const dear = await createPasswordHashing({ log2N: 11, r: 8, p: 1 }).hash(PASSWORD)
      await put(dear)
      expect(await tryPassword('weak-hash')).toMatchObject({ id })
      expect((await stored(id)).password_hash).toBe(dear)
    })

    it('gives the platform in the same transaction where that is asked for', async () => {
      const answer = await post({ login: 'boss', platform_admin: true })
      const subject = `user:${String(answer.body['user_id'])}`
      expect(await tenancy.tuplesOf('platform:main')).toContain(`${subject} admin platform:main`)
      expect((await tenancy.outbox(answer)).map(({ event }) => event)).toEqual([
        'identity.UserProvisioned',
        'LocalAccountCreated',
        'GrantCreated',
      ])
    })

    it.each([
      ['an address that is taken', { login: 'other', email: 'TAKEN@example.com' }, [409, 'account_already_exists']],
      ['a Domain that does not exist', { login: 'lost', domain_id: NOWHERE }, [404, 'domain_not_found']],
      ['a login in upper case', { login: 'Ana' }, [400, 'invalid_body']],
    ])('refuses %s and leaves no user behind', async (_case, body, expected) => {
      if (!(await tenancy.db.selectFrom('local_accounts').select('id').where('login', '=', 'taken').executeTakeFirst()))
        await post({ login: 'taken', email: 'taken@example.com' })
      const users = () => tenancy.db.selectFrom('principals').select('id').execute()
      const before = (await users()).length
      expect(codeOf(await post(body))).toEqual(expected)
      expect((await users()).length).toBe(before)
    })

    it('disables: sessions end at once, the next sign-in is refused, and enabling undoes it', async () => {
      const { id, userId } = await local.account('dis')
      const answer = await patch(id, { disabled: true })
      expect(answer.body).toMatchObject({ disabled: true })
      expect(local.ended.at(-1)).toBe(userId)
      expect(await tryPassword('dis')).toBe('refused')
      expect(local.refused.at(-1)).toMatchObject({ subject: `user:${userId}`, reason: 'account_disabled' })
      expect(await local.signIn.find(id)).toBeUndefined()
      const disabledAt = async () =>
        (
          await tenancy.db
            .selectFrom('principals')
            .select('disabled_at')
            .where('id', '=', userId)
            .executeTakeFirstOrThrow()
        ).disabled_at
      expect(await disabledAt()).toBeInstanceOf(Date)
      await patch(id, { disabled: false })
      expect(await disabledAt()).toBeNull()
      expect(await tryPassword('dis')).toMatchObject({ id })
    })

    it('resets the password: a new one for one time, the old one and all sessions gone', async () => {
      const { id, userId } = await local.account('res')
      const { body } = await patch(id, { reset_password: true })
      expect(body).toMatchObject({ must_change_password: true })
      expect(local.ended.at(-1)).toBe(userId)
      expect(await tryPassword('res')).toBe('refused')
      expect(await tryPassword('res', String(body['one_time_password']))).toMatchObject({ mustChangePassword: true })
      expect((await patch(id, { display_name: 'R' })).body).not.toHaveProperty('one_time_password')
    })

    it('forgets second factors where that is asked for', async () => {
      const { id } = await local.account('fac')
      const passkey = { credentialId: 'cred-fac', publicKey: new Uint8Array([1]), counter: 0, transports: ['usb'] }
      expect(await local.signIn.enrolPasskey({ accountId: id, passkey })).toBe(true)
      expect((await patch(id, { display_name: 'F' })).body['second_factors']).toEqual(['passkey'])
      expect((await patch(id, { reset_second_factors: true })).body['second_factors']).toEqual([])
      expect(await local.signIn.findPasskey('cred-fac')).toBeUndefined()
    })

    it('notes when somebody else resets the password or the second factors, and nothing when oneself does', async () => {
      const { id, userId } = await local.account('noted')
      const changedAt = async () => (await stored(id)).changed_by_other_at
      tenancy.callers.add(`user:${userId}`, tenancy.home)
      await tenancy.change(({ tuples }) =>
        tuples.create(
          { subject: `user:${userId}`, relation: 'admin', resource: 'platform:main' },
          { domainId: null, projectId: null },
        ),
      )
      for (const body of [{ reset_password: true }, { reset_second_factors: true }]) {
        expect((await tenancy.call(`user:${userId}`, `PATCH /v1/admin/users/${id}`, body)).status).toBe(200)
        expect((await patch(id, { display_name: 'N', disabled: false })).status).toBe(200)
        expect(await changedAt()).toBeNull()
      }
      for (const body of [{ reset_password: true }, { reset_second_factors: true }]) {
        await patch(id, body)
        expect(await changedAt()).toEqual(new Date(tenancy.clock.nowMs))
        await tenancy.db.updateTable('local_accounts').set({ changed_by_other_at: null }).where('id', '=', id).execute()
      }
    })

    it('deletes an account and leaves its user, as whom nobody signs in', async () => {
      const { id, userId } = await local.account('del')
      expect((await tenancy.call(root, `DELETE /v1/admin/users/${id}`)).status).toBe(204)
      expect(local.ended.at(-1)).toBe(userId)
      expect(await tryPassword('del')).toBe('refused')
      expect(await tenancy.tuplesOf(`user:${userId}`)).toHaveLength(1)
    })

    it('keeps the last administrator who can sign in', async () => {
      const { body: first } = await post({ login: 'last-1', platform_admin: true })
      const { body: second } = await post({ login: 'last-2', platform_admin: true })
      // Nobody else is left by name: the others are taken away in the datastore.
      const own = [first['user_id'], second['user_id']].map(String)
      await tenancy.db
        .deleteFrom('relation_tuples')
        .where('resource_type', '=', 'platform')
        .where('subject_id', 'not in', own)
        .execute()
      expect((await patch(String(first['id']), { disabled: true })).status).toBe(200)
      expect(codeOf(await patch(String(second['id']), { disabled: true }))).toEqual([409, 'last_platform_admin'])
      expect(codeOf(await tenancy.call(root, `DELETE /v1/admin/users/${String(second['id'])}`))).toEqual([
        409,
        'last_platform_admin',
      ])
    })

    describe('against guessing', () => {
      const wrong = (login: string) => tryPassword(login, 'not the password')

      it('rests after five wrong guesses, longer each time, 15 minutes at most, and takes the right one after', async () => {
        const { id } = await local.account('rest')
        for (let guess = 0; guess < 4; guess += 1) await wrong('rest')
        expect((await stored(id)).locked_until).toBeNull()
        const restS = async () => {
          await wrong('rest')
          const until = (await stored(id)).locked_until?.getTime() ?? 0
          const seconds = (until - tenancy.clock.nowMs) / 1000
          tenancy.clock.nowMs = until + 1
          return seconds
        }
        const rests: number[] = []
        for (let guess = 0; guess < 7; guess += 1) rests.push(await restS())
        expect(rests).toEqual([30, 60, 120, 240, 480, 900, 900])
        expect(await tryPassword('rest')).toMatchObject({ id })
      })

      it('refuses the right password too while it rests, and counts nothing then', async () => {
        const { id } = await local.account('lock')
        for (let guess = 0; guess < 5; guess += 1) await wrong('lock')
        const before = await stored(id)
        expect(await tryPassword('lock')).toBe('refused')
        expect(local.refused.at(-1)).toMatchObject({ reason: 'too_many_failures' })
        expect(await stored(id)).toEqual(before)
      })

      it('counts guesses that are made at the same time', async () => {
        const { id } = await local.account('para')
        const guesses = await Promise.all(Array.from({ length: 20 }, () => wrong('para')))
        expect(guesses.every((guess) => guess === 'refused')).toBe(true)
        expect((await stored(id)).failed_count).toBe(5)
      })

      it('does not count a guess that was not checked, as hashing was busy', async () => {
        const { id } = await local.account('busy')
        await wrong('busy')
        const matches = vi.spyOn(hashing, 'matches').mockRejectedValue(new HashingBusy())
        onTestFinished(() => matches.mockRestore())
        expect([await tryPassword('busy'), await tryPassword('unknown')]).toEqual(['busy', 'busy'])
        expect((await stored(id)).failed_count).toBe(1)
      })

      it('counts codes with passwords, and a sign-in that is complete starts anew', async () => {
        const { id } = await local.account('code')
        const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXR'
        const { TOTP } = await import('otpauth')
        const code = new TOTP({ secret }).generate({ timestamp: tenancy.clock.nowMs })
        await local.signIn.enrolTotp({ accountId: id, secret, code })
        const guess = (given: string) => local.signIn.tryCode({ accountId: id, code: given, sourceAddress: FROM })
        await wrong('code')
        await wrong('code')
        expect([await guess('000000'), await guess(code)]).toEqual([false, false])
        expect((await stored(id)).failed_count).toBe(4)
        expect(await local.signIn.complete({ accountId: id, sourceAddress: FROM, amr: ['pwd'] })).toBe(true)
        expect((await stored(id)).failed_count).toBe(0)
      })

      it('takes each code once, of this step and its neighbours', async () => {
        const { id } = await local.account('steps')
        const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXS'
        const { TOTP } = await import('otpauth')
        const at = (ms: number) => new TOTP({ secret }).generate({ timestamp: tenancy.clock.nowMs + ms })
        await local.signIn.enrolTotp({ accountId: id, secret, code: at(-30_000) })
        const guess = (code: string) => local.signIn.tryCode({ accountId: id, code, sourceAddress: FROM })
        const twice = await Promise.all([guess(at(0)), guess(at(0))])
        expect(twice.toSorted()).toEqual([false, true])
        expect(await guess(at(-30_000))).toBe(false)
        expect(await guess(at(60_000))).toBe(false)
        expect(await guess(at(30_000))).toBe(true)
      })

      it('takes no passkey whose counter did not move on', async () => {
        const { id } = await local.account('copy')
        const passkey = { credentialId: 'cred-copy', publicKey: new Uint8Array([1]), counter: 7, transports: [] }
        await local.signIn.enrolPasskey({ accountId: id, passkey })
        const use = (counter: number) => local.signIn.usePasskey({ credentialId: 'cred-copy', counter })
        expect([await use(7), await use(6), await use(8), await use(8)]).toEqual([false, false, true, false])
      })
    })
  })
})
