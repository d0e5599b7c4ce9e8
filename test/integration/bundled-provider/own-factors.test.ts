import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { START_MS } from '../../support/server/test-backend.ts'
import { startLocalProvider, type LocalProvider } from '../../support/sign-in/local-provider.ts'
import { STORES } from '../../support/datastores/stores.ts'

interface Factor {
  readonly id: string
  readonly kind: string
  readonly required: boolean
}

describe.each(STORES)("People's own second factors on the $name store", (store) => {
  describe.skipIf(store.missing)('', () => {
    let local: LocalProvider
    let serial = 0
    let id: string
    let userId: string
    let cookie: string
    let sessionId: string
    beforeAll(async () => {
      local = await startLocalProvider(store)
    })
    afterAll(() => local.stop())
    beforeEach(async () => {
      serial += 1
      await policy({ requiredAmr: [], requiredAcr: [], strongAcr: [] })
      ;({ id, userId } = await local.account(`ana-${serial}`))
      ;({ cookie, id: sessionId } = await local.browser(userId))
    })

    const db = () => local.tenancy.db
    async function policy(wanted: { requiredAmr: string[]; requiredAcr: string[]; strongAcr: string[] }) {
      const binding = {
        required_amr: JSON.stringify(wanted.requiredAmr),
        required_acr: JSON.stringify(wanted.requiredAcr),
      }
      await db().updateTable('idp_bindings').set(binding).where('is_bundled', '=', true).execute()
      await db()
        .updateTable('domains')
        .set({ strong_acr: JSON.stringify(wanted.strongAcr) })
        .execute()
    }
    const passkey = (name: string) => ({
      credentialId: `${name}-${serial}`,
      publicKey: new Uint8Array([1]),
      counter: 0,
      transports: ['internal'],
    })
    const addPasskey = (name: string) => local.signIn.enrolPasskey({ accountId: id, passkey: passkey(name) })
    const addApp = () =>
      db()
        .updateTable('local_accounts')
        .set({ totp_sealed: Buffer.from([1]), totp_last_step: '59078400', totp_enrolled_at: new Date(START_MS) })
        .where('id', '=', id)
        .execute()

    async function ask(method: string, path: string, headers: Record<string, string> = {}, as = cookie) {
      const answer = await fetch(`${local.tenancy.url}${path}`, {
        method,
        headers: { cookie: `service_session=${as}`, ...headers },
      })
      const text = await answer.text()
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      return {
        status: answer.status,
        headers: answer.headers,
        body,
        code: (body as { code?: string } | undefined)?.code,
      }
    }
    const list = async (as = cookie) => (await ask('GET', '/v1/auth/factors', {}, as)).body as Factor[]
    const remove = (factorId: string, as = cookie, headers: Record<string, string> = {}) =>
      ask('DELETE', `/v1/auth/factors/${factorId}`, headers, as)

    it('are listed with when they were set up and used, and nothing of their secrets', async () => {
      await addApp()
      await addPasskey('blue')
      await local.signIn.usePasskey({ credentialId: `blue-${serial}`, counter: 1 })
      const answer = await ask('GET', '/v1/auth/factors')
      expect([answer.status, answer.body]).toEqual([
        200,
        [
          {
            id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
            kind: 'totp',
            label: 'Authenticator app',
            created_at: '2026-03-01T08:00:00.000Z',
            last_used_at: '2026-03-01T08:00:00.000Z',
            required: false,
          },
          {
            id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
            kind: 'passkey',
            label: 'Passkey',
            created_at: '2026-03-01T08:00:00.000Z',
            last_used_at: '2026-03-01T08:00:00.000Z',
            required: false,
          },
        ],
      ])
      expect(JSON.stringify(answer.body)).not.toContain(`blue-${serial}`)
      expect(await list()).toEqual(answer.body)
    })

    it('are none of somebody who signs in elsewhere', async () => {
      const stranger = (await local.tenancy.principal(local.tenancy.home)).slice('user:'.length)
      const { cookie: theirs } = await local.browser(stranger)
      expect(await list(theirs)).toEqual([])
    })

    it('are removed one by one, which ends the sessions of other browsers, and is announced and audited', async () => {
      await addApp()
      await addPasskey('red')
      const [app, key] = await list()
      const answer = await remove(key?.id ?? '')
      expect([answer.status, await list()]).toEqual([204, [app]])
      expect(local.ended.at(-1)).toBe(`${userId} but ${sessionId}`)
      expect(await local.tenancy.outbox(answer)).toEqual([
        {
          event: 'LocalAccountUpdated',
          domain_id: local.tenancy.home,
          aggregate: `user:${userId}`,
          payload: { account_id: id },
        },
      ])
      expect(await local.tenancy.audit(answer)).toMatchObject({
        relation: 'auth.factor.remove',
        object: `user:${userId}`,
        outcome: 'granted',
      })
      expect((await remove(app?.id ?? '')).status).toBe(204)
      expect(await list()).toEqual([])
      expect(await local.signIn.find(id)).toMatchObject({ hasTotp: false, passkeys: [] })
    })

    it("are nobody else's to remove, and another's looks like one that does not exist", async () => {
      await addApp()
      const [app] = await list()
      const other = await local.account(`eve-${serial}`)
      const { cookie: theirs } = await local.browser(other.userId)
      const refusals = [
        await remove(app?.id ?? '', theirs),
        await remove('01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b', theirs),
      ]
      expect(refusals.map(({ status, code }) => [status, code])).toEqual([
        [404, 'factor_not_found'],
        [404, 'factor_not_found'],
      ])
      expect(await list()).toEqual([app])
    })

    it('are removed within 15 minutes of a sign-in, and by no token', async () => {
      await addApp()
      const [app] = await list()
      const young = await local.browser(userId, START_MS - 899_000)
      const old = await local.browser(userId, START_MS - 900_000)
      const { status, code } = await remove(app?.id ?? '', old.cookie)
      expect([status, code]).toEqual([401, 'reauthentication_required'])
      const holder = await local.tenancy.principal(local.tenancy.home)
      const byToken = await local.tenancy.call(holder, `DELETE /v1/auth/factors/${app?.id}`)
      expect([byToken.status, byToken.body['code']]).toEqual([403, 'session_required'])
      expect((await remove(app?.id ?? '', young.cookie)).status).toBe(204)
    })

    it('are not removed by a page of another origin', async () => {
      await addApp()
      const [app] = await list()
      for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const { status } = await remove(app?.id ?? '', cookie, headers)
        expect(status).toBe(403)
      }
      expect(await list()).toEqual([app])
    })

    it.each([
      { what: 'the binding requires several', wanted: { requiredAmr: ['mfa'] } },
      { what: 'the binding requires that strength', wanted: { requiredAcr: ['mfa'] } },
      { what: 'the Domain calls only that strong', wanted: { strongAcr: ['mfa'] } },
    ])('keep their last one where $what', async ({ wanted }) => {
      await policy({ requiredAmr: [], requiredAcr: [], strongAcr: [], ...wanted })
      await addApp()
      await addPasskey('one')
      expect((await list()).map(({ required }) => required)).toEqual([false, false])
      const [app, key] = await list()
      expect((await remove(app?.id ?? '')).status).toBe(204)
      expect((await list()).map(({ required }) => required)).toEqual([true])
      const { status, code } = await remove(key?.id ?? '')
      expect([status, code]).toEqual([409, 'last_second_factor'])
      expect(await list()).toHaveLength(1)
    })

    it('keep the last one of a kind that the binding names', async () => {
      await policy({ requiredAmr: ['hwk'], requiredAcr: [], strongAcr: [] })
      await addApp()
      await addPasskey('two')
      expect((await list()).map(({ kind, required }) => [kind, required])).toEqual([
        ['totp', false],
        ['passkey', true],
      ])
      await addPasskey('three')
      expect((await list()).map(({ required }) => required)).toEqual([false, false, false])
    })

    it('may go where a password is enough as well', async () => {
      await policy({ requiredAmr: [], requiredAcr: ['mfa', 'pwd'], strongAcr: [] })
      await addApp()
      const [app] = await list()
      expect((await remove(app?.id ?? '')).status).toBe(204)
    })

    it('leave one of two that are removed at the same time, where one is needed', async () => {
      await policy({ requiredAmr: ['mfa'], requiredAcr: [], strongAcr: [] })
      await addApp()
      await addPasskey('four')
      const [app, key] = await list()
      const answers = await Promise.all([remove(app?.id ?? ''), remove(key?.id ?? '')])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409])
      expect(await list()).toHaveLength(1)
    })
  })
})
