import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { IdpBinding } from '../../src/server/ports/idp-bindings.ts'
import { openBrowser, startSigningIn, type Landing, type SigningIn } from '../support/sign-in/sign-in.ts'
import { STORES } from '../support/datastores/stores.ts'

const ANNA = { sub: 'anna', email: 'anna@acme.example', email_verified: true, name: 'Anna Adler' }

describe.each(STORES)('A sign-in that asks for acr values or an age, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let world: SigningIn
    let domainId: string
    let binding: IdpBinding

    beforeAll(async () => {
      world = await startSigningIn(store)
    })
    afterAll(() => world.stop())
    beforeEach(async () => {
      // The issuer's tokens are of the real time.
      world.clock.nowMs = Date.now()
      Object.assign(world.issuer, { forgery: {}, metadata: {}, isDown: false })
      domainId = await world.domain()
      const members = {
        domainId,
        issuer: world.issuer.url,
        autoProvision: { emailDomains: ['acme.example'], groups: [] },
      }
      binding = await world.bindings.add(world.db, { id: world.ids.next(), ...members })
    })

    const where = () => ({ domain_id: domainId, idp_binding_id: binding.id })
    const now = () => Math.floor(world.clock.nowMs / 1000)
    const codeOf = ({ status, body }: Landing) => [status, body['code']]

    /** Signs Anna in, whose provider says that of the sign-in, in the browser. */
    function signIn(claims: object, asked: object, browser = openBrowser(world.url)): Promise<Landing> {
      world.issuer.forgery = { claims: { ...ANNA, ...claims } }
      return browser.signIn({ ...where(), ...asked })
    }

    it.each([
      [{ acr_values: 'mfa phr' }, ['mfa phr', null]],
      [{ max_age: 0 }, [null, '0']],
      [{ acr_values: 'urn:example:mfa', max_age: 60 }, ['urn:example:mfa', '60']],
      [{ max_age_seconds: 60 }, [null, '60']],
    ])('sends %j on to the provider', async (asked, sent) => {
      const { body } = await openBrowser(world.url).begin({ ...where(), ...asked })
      const { searchParams } = new URL(body['authorization_url'] ?? '')
      expect([searchParams.get('acr_values'), searchParams.get('max_age')]).toEqual(sent)
    })

    it.each([
      ['both names of the age', { max_age: 60, max_age_seconds: 60 }],
      ['a quote', { acr_values: 'm"fa' }],
      ['a list', { acr_values: ['mfa'] }],
      ['nothing', { acr_values: '' }],
      ['a negative age', { max_age: -1 }],
      ['an age of more than a day', { max_age: 86_401 }],
      ['an age as text', { max_age: '60' }],
    ])('is refused %s', async (_, asked) => {
      const { status, body } = await openBrowser(world.url).begin({ ...where(), ...asked })
      expect([status, body['code']]).toEqual([400, 'invalid_body'])
    })

    it('ends in a session with the acr and the time that the provider says', async () => {
      const browser = openBrowser(world.url)
      const asked = { acr_values: 'mfa phr', max_age: 60 }
      expect((await signIn({ acr: 'phr', auth_time: now() - 20 }, asked, browser)).status).toBe(200)
      const rows = await world.db.selectFrom('sessions').selectAll().where('domain_id', '=', domainId).execute()
      expect(rows).toMatchObject([{ acr: 'phr', auth_time: new Date((now() - 20) * 1000), auth_time_stated: true }])
    })

    it('keeps in mind that a provider stated no time', async () => {
      expect((await signIn({ acr: 'mfa' }, { acr_values: 'mfa' })).status).toBe(200)
      const rows = await world.db.selectFrom('sessions').selectAll().where('domain_id', '=', domainId).execute()
      expect(rows).toMatchObject([{ acr: 'mfa', auth_time_stated: false }])
    })

    describe.each([
      ['ignored the acr values', { acr: 'pwd' }, { acr_values: 'mfa' }],
      ['says nothing of an acr', {}, { acr_values: 'mfa' }],
      ['ignored the age', { acr: 'mfa', auth_time_ago: 91 }, { acr_values: 'mfa', max_age: 60 }],
      ['states no time', { acr: 'mfa' }, { acr_values: 'mfa', max_age: 60 }],
    ])('whose provider %s', (_, { auth_time_ago: ago, ...claims }: { acr?: string; auth_time_ago?: number }, asked) => {
      const said = () => ({ ...claims, ...(ago !== undefined && { auth_time: now() - ago }) })

      it('ends in one sentence and without a session', async () => {
        const landing = await signIn(said(), asked)
        expect(codeOf(landing)).toEqual([403, 'insufficient_authentication'])
        expect(landing.body['detail']).toBe(
          'The identity provider did not confirm a sign-in as strong or as recent as was required.',
        )
        expect(await world.db.selectFrom('sessions').select('id').where('domain_id', '=', domainId).execute()).toEqual(
          [],
        )
      })

      it('leaves the session that the browser had as it was', async () => {
        const browser = openBrowser(world.url)
        expect((await signIn({ acr: 'pwd', auth_time: now() }, {}, browser)).status).toBe(200)
        const before = browser.cookies.get('service_session')
        expect(codeOf(await signIn(said(), asked, browser))).toEqual([403, 'insufficient_authentication'])
        expect(browser.cookies.get('service_session')).toBe(before)
        expect(await world.db.selectFrom('sessions').select('acr').where('domain_id', '=', domainId).execute()).toEqual(
          [{ acr: 'pwd' }],
        )
      })

      it('leads a browser to the start page, not round again', async () => {
        const browser = openBrowser(world.url)
        world.issuer.forgery = { claims: { ...ANNA, ...said() } }
        const callback = await browser.authorize(await browser.begin({ ...where(), ...asked, return_to: '/v1/device' }))
        const { status, headers } = await browser.comeBack(callback, 'text/html')
        expect([status, headers.get('location')]).toEqual([
          303,
          expect.stringMatching(/^\/\?problem=insufficient_authentication&correlation_id=/),
        ])
        // The answer of the provider is used up.
        expect(codeOf(await browser.comeBack(callback))).toEqual([400, 'invalid_sign_in'])
      })
    })
  })
})
