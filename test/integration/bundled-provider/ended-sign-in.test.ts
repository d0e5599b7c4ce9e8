import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../../support/sign-in/local-provider.ts'
import { plainBrowser, relyingParty, type PlainBrowser, type Visited } from '../../support/sign-in/relying-party.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NEXT = 'four otters at dawn'

describe.each(STORES)('A sign-in under way at the bundled provider on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let local: LocalProvider
    let party: Awaited<ReturnType<typeof relyingParty>>
    let browser: PlainBrowser
    beforeAll(async () => {
      local = await startLocalProvider(store)
      party = await relyingParty(local.baseUrl)
    })
    afterAll(() => local.stop())
    beforeEach(() => {
      browser = plainBrowser()
      local.tenancy.clock.nowMs += 3_600_000
    })

    const headingOf = ({ text }: Visited) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1]
    const isBack = ({ url }: Visited) => url.href.startsWith(`${local.baseUrl}/v1/auth/callback?code=`)

    /** The page that offers a second factor: the password was right. */
    async function atEnrolment(login: string): Promise<Visited> {
      const page = await browser.go((await party.begin()).url, `${local.baseUrl}/idp/`)
      const enrolment = await browser.send(page, 'password', { login, password: PASSWORD, enrol: 'yes' })
      expect(headingOf(enrolment)).toBe('Set up a second factor')
      return enrolment
    }

    it('starts over where the password is changed meanwhile', async () => {
      const { id } = await local.account('changed')
      const page = await atEnrolment('changed')
      await local.signIn.changePassword({ accountId: id, password: NEXT })
      const next = await browser.send(page, 'skip')
      expect([isBack(next), headingOf(next)]).toEqual([false, 'Sign in'])
      const again = await browser.send(next, 'password', { login: 'changed', password: NEXT })
      expect(isBack(again)).toBe(true)
    })

    it('starts over where an administrator resets the account meanwhile', async () => {
      const { id } = await local.account('reset')
      const page = await atEnrolment('reset')
      const reset = { reset_password: true, reset_second_factors: true }
      const { body } = await local.tenancy.call(local.tenancy.root, `PATCH /v1/admin/users/${id}`, reset)
      const next = await browser.send(page, 'new-password', { password: NEXT, again: NEXT })
      expect(headingOf(next)).toBe('Sign in')
      const oneTime = { login: 'reset', password: String(body['one_time_password']) }
      expect(headingOf(await browser.send(next, 'password', oneTime))).toBe('Choose a new password')
    })

    it('starts over where the account is disabled and enabled again meanwhile', async () => {
      const { id } = await local.account('paused')
      const page = await atEnrolment('paused')
      for (const disabled of [true, false]) {
        await local.tenancy.call(local.tenancy.root, `PATCH /v1/admin/users/${id}`, { disabled })
      }
      expect(headingOf(await browser.send(page, 'skip'))).toBe('Sign in')
    })

    it('goes on behind the password change that it makes itself', async () => {
      await local.account('own', { isOneTime: true })
      const page = await browser.go((await party.begin()).url, `${local.baseUrl}/idp/`)
      const wanted = await browser.send(page, 'password', { login: 'own', password: PASSWORD })
      const enrolment = await browser.send(wanted, 'new-password', { password: NEXT, again: NEXT })
      expect(isBack(await browser.send(enrolment, 'skip'))).toBe(true)
    })
  })
})
