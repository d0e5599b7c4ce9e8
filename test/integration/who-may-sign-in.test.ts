import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSignInSweeper } from '../../src/server/slices/sign-in/sign-in-sweeper.ts'
import type { IdpBinding } from '../../src/server/ports/idp-bindings.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { openBrowser, startSigningIn, type Landing, type SigningIn } from '../support/sign-in/sign-in.ts'
import { STORES } from '../support/datastores/stores.ts'

const ANNA = { sub: 'anna', email: 'Anna@Acme.Example', email_verified: true, name: 'Anna Adler' }

describe.each(STORES)('Who may sign in, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let world: SigningIn
    let isStopped = false
    let domainId: string
    let binding: IdpBinding
    let before: Awaited<ReturnType<SigningIn['counts']>>

    beforeAll(async () => {
      world = await startSigningIn(store)
    })
    afterAll(() => (isStopped ? undefined : world.stop()))

    beforeEach(async () => {
      // The issuer's tokens are of the real time.
      world.clock.nowMs = Date.now()
      Object.assign(world.issuer, { forgery: {}, metadata: {}, isDown: false })
      domainId = await world.domain()
      binding = await bind({})
      before = await world.counts()
    })

    const bind = (members: Partial<IdpBinding>) =>
      world.bindings.add(world.db, { id: world.ids.next(), domainId, issuer: world.issuer.url, ...members })
    const change = (members: Partial<IdpBinding>) => world.bindings.change(binding.id, members)
    const invite = (email: string, of = domainId, ttl_seconds = 3600) =>
      world.call(world.root, `POST /v1/domains/${of}/invitations`, { email, ttl_seconds })
    const invitations = async () =>
      (await world.call(world.root, `GET /v1/domains/${domainId}/invitations`)).body['items']
    /** Signs in with what the issuer says, in a browser of its own. */
    const signIn = (claims: object, { of = domainId, by = binding, ...more }: Attempt = {}): Promise<Landing> => {
      world.issuer.forgery = { claims: { ...claims } }
      return openBrowser(world.url).signIn({ domain_id: of, idp_binding_id: by.id, ...more })
    }
    const codeOf = ({ status, body }: Landing) => [status, body['code']]
    const users = (of = domainId) =>
      world.db.selectFrom('principals').selectAll().where('domain_id', '=', of).where('kind', '=', 'user').execute()
    const expectNothing = async () => expect(await world.counts()).toEqual(before)

    describe('by invitation', () => {
      it('is who comes with the invited address, once; after that they are known', async () => {
        await invite('anna@acme.example')
        const landing = await signIn(ANNA)
        expect(landing.status).toBe(200)
        expect(await invitations()).toMatchObject([
          { accepted_by: landing.body['subject'], accepted_at: new Date(world.clock.nowMs).toISOString() },
        ])
        const again = await signIn({ ...ANNA, name: 'Anna Berg', email: 'anna@elsewhere.example' })
        expect(again.body['subject']).toBe(landing.body['subject'])
        expect(await users()).toMatchObject([{ display_name: 'Anna Berg', email: 'anna@elsewhere.example' }])
        expect(codeOf(await signIn({ ...ANNA, sub: 'another-anna' }))).toEqual([403, 'not_invited'])
      })

      it.each([
        ['an address that is not verified', { email_verified: false }],
        ['an address of which nobody says that it is verified', { email_verified: undefined }],
        ['an address that is verified for somebody', { email_verified: 1 }],
        ['no address', { email: undefined }],
        ['another address', { email: 'ben@acme.example' }],
        ['an address that only looks the same', { email: 'anna@acme.example\u200b' }],
        ['an address that becomes the same in lower case', { email: '\u212Aate@acme.example' }],
        ['several addresses', { email: ['anna@acme.example'] }],
      ])('is nobody with %s, and nothing is created', async (_what, claims) => {
        for (const email of ['anna@acme.example', 'kate@acme.example']) await invite(email)
        expect(codeOf(await signIn({ ...ANNA, ...claims }))).toEqual([403, 'not_invited'])
        expect(await users()).toEqual([])
        await expectNothing()
      })

      it('is nobody whose invitation has expired, was taken back, or is to another Domain', async () => {
        const elsewhere = await world.domain()
        await invite('anna@acme.example', elsewhere)
        const { body } = await invite('anna@acme.example', domainId)
        await world.call(world.root, `DELETE /v1/domains/${domainId}/invitations/${String(body['id'])}`)
        expect(codeOf(await signIn(ANNA))).toEqual([403, 'not_invited'])
        await invite('anna@acme.example', domainId, 60)
        world.clock.nowMs += 60_000
        expect(codeOf(await signIn(ANNA))).toEqual([403, 'not_invited'])
        expect(await users()).toEqual([])
      })

      it('is one user, whichever of two browsers comes first', async () => {
        await invite('anna@acme.example')
        const landings = await Promise.all([signIn(ANNA), signIn(ANNA), signIn(ANNA)])
        expect(landings.map(({ status }) => status)).toEqual([200, 200, 200])
        expect(await users()).toHaveLength(1)
      })

      it('is one of two people with the same address', async () => {
        await invite('anna@acme.example')
        const browsers = [openBrowser(world.url), openBrowser(world.url)]
        const where = { domain_id: domainId, idp_binding_id: binding.id }
        const callbacks: URL[] = []
        for (const browser of browsers) callbacks.push(await browser.authorize(await browser.begin(where)))
        let people = 0
        world.issuer.forgery = { claims: { ...ANNA, groups: [] } }
        world.issuer.server.service.on('beforeTokenSigning', alternate)
        const landings = await Promise.all(browsers.map((browser, at) => browser.comeBack(callbacks[at] ?? NOWHERE)))
        world.issuer.server.service.off('beforeTokenSigning', alternate)
        expect(landings.map(({ status }) => status).toSorted()).toEqual([200, 403])
        expect(await users()).toHaveLength(1)

        function alternate({ payload }: { payload: Record<string, unknown> }): void {
          if (payload['aud'] !== undefined) payload['sub'] = `anna-${(people += 1)}`
        }
      })
    })

    describe('without an invitation', () => {
      it.each([
        ['a verified address of an allowed domain', {}, 200],
        ['an address of a domain below it', { email: 'anna@sub.acme.example' }, 403],
        ['an address of a domain that ends alike', { email: 'anna@notacme.example' }, 403],
        ['an address with two signs', { email: 'anna@acme.example@evil.example' }, 403],
        ['an address that is not verified', { email_verified: false }, 403],
        ['an allowed group', { email_verified: false, groups: ['staff'] }, 200],
        ['an allowed group by its name alone', { email: undefined, groups: 'staff' }, 200],
        ['another group', { email_verified: false, groups: ['Staff', 'others'] }, 403],
      ])('is let in by the binding, or not: %s', async (_what, claims, status) => {
        change({ autoProvision: { emailDomains: ['ACME.example'], groups: ['staff'] } })
        const landing = await signIn({ ...ANNA, ...claims })
        expect(landing.status).toBe(status)
        if (status === 200) return expect(await users()).toHaveLength(1)
        expect(landing.body['code']).toBe('not_invited')
        return expectNothing()
      })

      it('holds no relation, and is called by their name, or by none that is an address', async () => {
        change({ autoProvision: { emailDomains: ['acme.example'], groups: [] } })
        await signIn({ ...ANNA, name: 'anna@acme.example' })
        const [user] = await users()
        expect(user?.display_name).toBe(`User ${user?.id.slice(-8)}`)
        expect(await world.tuplesOf(`user:${user?.id}`)).toEqual([`domain:${domainId} domain user:${user?.id}`])
        await signIn({ ...ANNA, name: ` Anna\u0000\n${'x'.repeat(200)}` })
        expect((await users())[0]?.display_name).toBe(`Anna ${'x'.repeat(123)}`)
        await signIn({ ...ANNA, name: undefined })
        expect((await users())[0]?.display_name).toBe(`Anna ${'x'.repeat(123)}`)
      })

      it('keeps an invitation from lying open that the person could have used', async () => {
        change({ autoProvision: { emailDomains: ['acme.example'], groups: [] } })
        await invite('anna@acme.example')
        const landing = await signIn(ANNA)
        expect(await invitations()).toMatchObject([{ accepted_by: landing.body['subject'] }])
      })
    })

    it('nobody who is disabled, and nothing of them changes', async () => {
      await invite('anna@acme.example')
      await signIn(ANNA)
      await world.db
        .updateTable('principals')
        .set({ disabled_at: new Date() })
        .where('domain_id', '=', domainId)
        .execute()
      const after = [await users(), await world.counts()]
      expect(codeOf(await signIn({ ...ANNA, name: 'Another' }))).toEqual([403, 'user_disabled'])
      expect([await users(), await world.counts()]).toEqual(after)
    })

    it('the same person in another Domain is another user, with nothing of the first', async () => {
      const shared = await bind({ domainId: null, autoProvision: { emailDomains: ['acme.example'], groups: [] } })
      const elsewhere = await world.domain()
      const here = await signIn(ANNA, { by: shared })
      await world.call(world.root, `POST /v1/domains/${domainId}/grants`, {
        subject: here.body['subject'],
        relation: 'admin',
      })
      const there = await signIn(ANNA, { by: shared, of: elsewhere })
      expect(there.body).toMatchObject({ domain_id: elsewhere })
      expect(there.body['subject']).not.toBe(here.body['subject'])
      expect(await world.tuplesOf(String(there.body['subject']))).toEqual([
        `domain:${elsewhere} domain ${there.body['subject']}`,
      ])
      const [one, other] = [...(await users()), ...(await users(elsewhere))]
      expect(one?.subject_pseudonym).not.toBe(other?.subject_pseudonym)
    })

    describe('with a provider that the platform shares', () => {
      const shared = (domain: string | null) =>
        bind({
          domainId: null,
          claims: { ...binding.claims, domain },
          autoProvision: { emailDomains: ['acme.example'], groups: [] },
        })

      it('is whom its Domain claim names for this Domain, by slug or id', async () => {
        const own = await world.domain('claimed')
        const by = await shared('tenant')
        const land = async (tenant: unknown) => codeOf(await signIn({ ...ANNA, tenant }, { by, of: own }))
        before = await world.counts()
        expect(await land('another')).toEqual([403, 'sign_in_refused'])
        expect(await land(undefined)).toEqual([403, 'sign_in_refused'])
        expect(await land({ slug: 'claimed' })).toEqual([403, 'sign_in_refused'])
        await expectNothing()
        for (const tenant of ['claimed', own, ['another', 'claimed']]) expect((await land(tenant))[0]).toBe(200)
      })

      it('is anybody it lets in, in the Domain of the request, where it has no such claim', async () => {
        expect((await signIn(ANNA, { by: await shared(null) })).body['domain_id']).toBe(domainId)
      })
    })

    describe('has in the mirrored groups', () => {
      const mirrored = async (name: string, of = domainId) => {
        const body = { slug: `g-${world.ids.next()}`, display_name: name, provider_group: name }
        return String((await world.call(world.root, `POST /v1/domains/${of}/groups`, body)).body['id'])
      }
      const groupsOf = async (landing: Landing) =>
        (await world.tuplesOf(String(landing.body['subject'])))
          .filter((tuple) => tuple.includes(' member '))
          .map((tuple) => tuple.split(':').at(-1))

      it('what the last sign-in said, and nothing without a groups claim', async () => {
        change({ autoProvision: { emailDomains: ['acme.example'], groups: [] } })
        const [ops, dev] = [await mirrored('ops'), await mirrored('dev')]
        await world.group(domainId, 'by-people')
        expect(await groupsOf(await signIn({ ...ANNA, groups: ['ops', 'by-people', 7] }))).toEqual([ops])
        expect(await groupsOf(await signIn({ ...ANNA, groups: ['dev'] }))).toEqual([dev])
        change({ claims: { ...binding.claims, groups: null } })
        expect(await groupsOf(await signIn({ ...ANNA, groups: ['dev'] }))).toEqual([])
      })

      it('nothing where they are refused', async () => {
        const ops = await mirrored('ops')
        await signIn({ ...ANNA, groups: ['ops'] })
        expect(await world.tuplesOf(`group:${ops}`)).toEqual([`domain:${domainId} domain group:${ops}`])
      })
    })

    describe('with a binding that requires a class of authentication', () => {
      const now = () => Math.floor(world.clock.nowMs / 1000)
      beforeEach(() =>
        change({
          requiredAcr: ['urn:mfa', 'urn:phr'],
          requiredAmr: ['otp'],
          autoProvision: { emailDomains: ['acme.example'], groups: [] },
        }),
      )

      it.each<
        readonly [string, { readonly auth_time?: number | undefined; readonly [claim: string]: unknown }, number]
      >([
        ['what is required', {}, 200],
        ['more than is required', { acr: 'urn:phr', amr: ['pwd', 'otp', 'hwk'] }, 200],
        ['no class', { acr: undefined }, 403],
        ['another class', { acr: 'urn:pwd' }, 403],
        ['several classes at once', { acr: ['urn:mfa'] }, 403],
        ['no methods', { amr: undefined }, 403],
        ['other methods', { amr: ['pwd'] }, 403],
        ['methods that are none', { amr: 'otp' }, 403],
        ['no instant of authentication', { auth_time: undefined }, 403],
        ['an instant longer ago than a session idles', { auth_time: -43_240 }, 403],
        ['an instant just within that', { auth_time: -43_190 }, 200],
      ])('is whom the ID token says %s of', async (_what, claims, status) => {
        const ago = 'auth_time' in claims ? claims.auth_time : -10
        const times = ago === undefined ? {} : { auth_time: now() + ago }
        const landing = await signIn({
          ...ANNA,
          acr: 'urn:mfa',
          amr: ['otp'],
          ...claims,
          auth_time: undefined,
          ...times,
        })
        expect(landing.status).toBe(status)
        if (status === 200) return
        expect(landing.body['code']).toBe('insufficient_authentication')
        await expectNothing()
      })
    })

    it('is who authenticated as lately as the request wants, as far as the provider says when', async () => {
      change({ autoProvision: { emailDomains: ['acme.example'], groups: [] } })
      const now = Math.floor(world.clock.nowMs / 1000)
      const land = async (auth_time: number | undefined) =>
        codeOf(await signIn({ ...ANNA, auth_time }, { max_age_seconds: 900 }))
      expect(await land(now - 940)).toEqual([403, 'insufficient_authentication'])
      expect(await land(now - 890)).toEqual([200, undefined])
      expect(await land(undefined)).toEqual([200, undefined])
    })

    it('is nobody of whom the provider names 10,001 groups', async () => {
      change({ autoProvision: { emailDomains: ['acme.example'], groups: [] } })
      const groups = Array.from({ length: 10_001 }, (_, at) => `g${at}`)
      expect(codeOf(await signIn({ ...ANNA, groups }))).toEqual([403, 'sign_in_refused'])
      expect((await signIn({ ...ANNA, groups: groups.slice(1) })).status).toBe(200)
    })

    it('sign-ins that nobody finished go 10 minutes after they expired', async () => {
      const begin = () => openBrowser(world.url).begin({ domain_id: domainId, idp_binding_id: binding.id })
      const left = async () => (await world.counts()).sign_ins
      await world.db.deleteFrom('sign_ins').execute()
      await begin()
      world.clock.nowMs += 60_000
      await begin()
      const job = createSignInSweeper(world)
      world.clock.nowMs += 1_140_000
      await job.run(unfenced(world))
      expect(await left()).toBe(2)
      world.clock.nowMs += 1
      expect(await job.run(unfenced(world))).toBe(false)
      expect(await left()).toBe(1)
    })

    it('refusals are audited in the chain of the Domain, about the user where one is known', async () => {
      await signIn(ANNA)
      await signIn(ANNA)
      await invite('anna@acme.example')
      const { body } = await signIn(ANNA)
      await world.db
        .updateTable('principals')
        .set({ disabled_at: new Date() })
        .where('domain_id', '=', domainId)
        .execute()
      await signIn(ANNA)
      await world.stop()
      isStopped = true
      const said = world.audited.filter(({ domainId: of, outcome }) => of === domainId && outcome !== 'granted')
      const common = { relation: 'auth.sign_in.complete', subject: 'anonymous', outcome: 'permission_denied' }
      expect(said).toMatchObject([
        { ...common, object: `domain:${domainId}`, reason: 'not_invited' },
        { ...common, object: `domain:${domainId}`, reason: 'not_invited' },
        { ...common, object: body['subject'], reason: 'user_disabled' },
      ])
    })
  })
})

interface Attempt {
  readonly of?: string
  readonly by?: IdpBinding
  readonly max_age_seconds?: number
}

const NOWHERE = new URL('https://nowhere.invalid')
