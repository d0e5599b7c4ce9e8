import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../../support/local-provider.ts'
import { plainBrowser, relyingParty } from '../../support/relying-party.ts'
import { STORES } from '../../support/stores.ts'

describe.each(STORES)('The bundled provider on the $name store', (store) => {
  describe.skipIf(store.missing)('as a relying party sees it', () => {
    let local: LocalProvider
    beforeAll(async () => {
      local = await startLocalProvider(store)
    })
    afterAll(() => local.stop())

    const idp = () => `${local.baseUrl}/idp/`

    it('signs a person in with login and password, and says who it is and how', async () => {
      const { id } = await local.account('ana')
      const party = await relyingParty(local.baseUrl)
      const begun = await party.begin()
      const browser = plainBrowser()
      const page = await browser.go(begun.url, idp())
      expect(page.status).toBe(200)
      expect(page.text).toContain('<h1>Sign in</h1>')
      const back = await browser.send(page, 'password', { login: 'ana', password: PASSWORD })
      expect(back.url.href).toMatch(`${local.baseUrl}/v1/auth/callback?code=`)
      const claims = await begun.finish(back.url)
      expect(claims).toMatchObject({
        iss: `${local.baseUrl}/idp`,
        aud: 'ctl',
        sub: id,
        name: 'The ana',
        preferred_username: 'ana',
        email: 'ana@example.com',
        email_verified: true,
        domain: 'home',
        acr: 'pwd',
        amr: ['pwd'],
      })
      expect(Math.abs(Date.now() / 1000 - Number(claims.auth_time))).toBeLessThan(30)
    })
  })
})
