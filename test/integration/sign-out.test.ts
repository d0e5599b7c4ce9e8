import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { IdpBinding } from '../../src/server/ports/idp-bindings.ts'
import { SESSION_IDLE_MS } from '../../src/server/ports/sessions.ts'
import { CLIENT_ID, openBrowser, startSigningIn, type Browser, type SigningIn } from '../support/sign-in/sign-in.ts'
import { STORES } from '../support/datastores/stores.ts'

const ANNA = { sub: 'anna', email: 'anna@acme.example', email_verified: true, name: 'Anna Adler' }

describe.each(STORES)('Signing out in a browser on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let world: SigningIn
    let domainId: string
    let binding: IdpBinding

    beforeAll(async () => {
      world = await startSigningIn(store)
    })
    afterAll(() => world.stop())
    beforeEach(async () => {
      world.clock.nowMs = Date.now()
      Object.assign(world.issuer, { forgery: { claims: ANNA }, metadata: {}, isDown: false })
      domainId = await world.domain()
      const autoProvision = { emailDomains: ['acme.example'], groups: [] }
      const place = { id: world.ids.next(), domainId, issuer: world.issuer.url, autoProvision }
      binding = await world.bindings.add(world.db, place)
    })

    async function signedIn(): Promise<Browser> {
      const browser = openBrowser(world.url)
      const { status } = await browser.signIn({ domain_id: domainId, idp_binding_id: binding.id })
      expect(status).toBe(200)
      return browser
    }

    async function signOut(
      browser: Browser,
      fields: Record<string, string> = {},
      headers: Record<string, string> = {},
    ) {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await fetch(`${world.url}/v1/sign-out`, {
        method: 'POST',
        headers: { accept: 'text/html', ...headers, ...(cookie !== '' && { cookie }) },
        body: new URLSearchParams(fields),
        redirect: 'manual',
      })
      return { answer, text: await answer.text() }
    }

    const target = (text: string) =>
      new URL(/http-equiv="refresh" content="0; url=([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'none:')
    const sessionsLeft = async () =>
      (await world.db.selectFrom('sessions').select('id').where('domain_id', '=', domainId).execute()).length

    it('goes on to where the provider ends its own session, and tells it whose by the token that it issued', async () => {
      Object.assign(world.issuer, { metadata: { end_session_endpoint: `${world.issuer.url}/end?realm=acme` } })
      const { answer, text } = await signOut(await signedIn())
      expect(answer.status).toBe(200)
      const { origin, pathname, searchParams } = target(text)
      expect(`${origin}${pathname}`).toBe(`${world.issuer.url}/end`)
      const { id_token_hint: hint = '', ...others } = Object.fromEntries(searchParams)
      expect(others).toEqual({ realm: 'acme', client_id: CLIENT_ID })
      const [, claims = ''] = hint.split('.')
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: 'anna', aud: CLIENT_ID })
      expect(await sessionsLeft()).toBe(0)
    })

    it('clears every cookie of the session and of the bundled provider, and is audited as the API does it', async () => {
      const { answer } = await signOut(await signedIn())
      expect(answer.headers.getSetCookie().map((field) => field.split(';', 1)[0])).toEqual([
        'service_session=',
        'service_csrf=',
        'ctl_idp_session=',
        'ctl_idp_session.sig=',
      ])
      const correlationId = answer.headers.get('x-correlation-id') ?? ''
      const rows = world.db
        .selectFrom('audit')
        .select(['relation', 'outcome'])
        .where('correlation_id', '=', correlationId)
      expect(await rows.execute()).toEqual([{ relation: 'auth.session.terminate', outcome: 'granted' }])
    })

    it.each([
      ['announces no place for it', { metadata: { end_session_endpoint: undefined } }],
      ['announces what is no address', { metadata: { end_session_endpoint: 'javascript:alert(1)' } }],
      ['cannot be reached', { isDown: true }],
    ])('says that the sign-in may go on at a provider that %s', async (_, members) => {
      const browser = await signedIn()
      Object.assign(world.issuer, members)
      const { answer, text } = await signOut(browser)
      expect(answer.status).toBe(200)
      expect(text).toContain('You may still be signed in at')
      expect(text).not.toContain('http-equiv="refresh"')
      expect(await sessionsLeft()).toBe(0)
    })

    it('goes on to the provider without a token where the kept one cannot be opened', async () => {
      Object.assign(world.issuer, { metadata: { end_session_endpoint: `${world.issuer.url}/end` } })
      const browser = await signedIn()
      const sealed = Buffer.alloc(200, 1)
      await world.db
        .updateTable('sessions')
        .set({ id_token_sealed: sealed })
        .where('domain_id', '=', domainId)
        .execute()
      const { answer, text } = await signOut(browser)
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(target(text).searchParams)).toEqual({ client_id: CLIENT_ID })
      expect(answer.headers.getSetCookie()).toHaveLength(4)
      expect(await sessionsLeft()).toBe(0)
    })

    it('clears the cookies where the binding of the session cannot be read', async () => {
      const browser = await signedIn()
      const find = vi.spyOn(world.bindings, 'find').mockRejectedValue(new Error('the datastore is away'))
      onTestFinished(() => find.mockRestore())
      const { answer } = await signOut(browser)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/?signed_out=1'])
      expect(answer.headers.getSetCookie()).toHaveLength(4)
      expect(await sessionsLeft()).toBe(0)
    })

    it('ends the sessions in every browser where that is asked for, and announces it', async () => {
      const [here] = [await signedIn(), await signedIn()]
      const { answer } = await signOut(here, { everywhere: 'yes' })
      expect(await sessionsLeft()).toBe(0)
      const correlationId = answer.headers.get('x-correlation-id') ?? ''
      const rows = world.db
        .selectFrom('audit')
        .select(['relation', 'context'])
        .where('correlation_id', '=', correlationId)
      expect(await rows.execute()).toEqual([
        { relation: 'auth.session.terminate.global', context: { sessions_revoked: 2 } },
      ])
      expect(await world.outbox(answer)).toMatchObject([
        { event: 'identity.UserSignedOut', domain_id: domainId, payload: { sessions_revoked: 2 } },
      ])
    })

    it('says that the sessions of other browsers go on where the own one has idled', async () => {
      Object.assign(world.issuer, { metadata: { end_session_endpoint: `${world.issuer.url}/end` } })
      const here = await signedIn()
      const sessions = () => world.db.selectFrom('sessions').select('id').where('domain_id', '=', domainId)
      const { id } = await sessions().executeTakeFirstOrThrow()
      await signedIn()
      const idle = new Date(world.clock.nowMs - SESSION_IDLE_MS)
      await world.db.updateTable('sessions').set({ last_seen_at: idle }).where('id', '=', id).execute()
      const { answer, text } = await signOut(here, { everywhere: 'yes' })
      expect(answer.status).toBe(200)
      expect(text).toContain('Your sessions in other browsers go on')
      expect(text).toContain(`<a href="${world.issuer.url}/end?`)
      expect(text).not.toContain('http-equiv="refresh"')
      expect(answer.headers.getSetCookie()).toHaveLength(4)
      expect(await sessionsLeft()).toBe(1)
    })

    it('says the same where the own session is gone', async () => {
      const { text } = await signOut(openBrowser(world.url), { everywhere: 'yes' })
      expect(text).toContain('Your sessions in other browsers go on')
    })

    it('leaves the other browsers signed in otherwise', async () => {
      const [here] = [await signedIn(), await signedIn()]
      await signOut(here)
      expect(await sessionsLeft()).toBe(1)
    })

    it('leads to the start page where nobody is signed in', async () => {
      const { answer } = await signOut(openBrowser(world.url))
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/?signed_out=1'])
    })

    it('is refused to a form of another site', async () => {
      const browser = await signedIn()
      const { answer } = await signOut(browser, {}, { origin: 'https://evil.example' })
      expect(answer.status).toBe(403)
      expect(await sessionsLeft()).toBe(1)
    })

    it('keeps the token of the provider sealed', async () => {
      await signedIn()
      const row = await world.db
        .selectFrom('sessions')
        .select('id_token_sealed')
        .where('domain_id', '=', domainId)
        .executeTakeFirstOrThrow()
      expect(row.id_token_sealed?.length).toBeGreaterThan(100)
      expect(row.id_token_sealed?.includes('eyJ')).toBe(false)
    })
  })
})
