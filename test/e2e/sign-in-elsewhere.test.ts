import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { exchange } from '../conformance/wire.ts'
import { startWorld, type RunningWorld, type World } from '../conformance/world.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startStubIssuer, type StubIssuer } from '../support/sign-in/stub-issuer.ts'
import { EMBEDDED } from '../support/datastores/stores.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const executablePath = requirement('chromium')

interface Codes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri_complete: string
}

/** The whole server at `127.0.0.1`, and a provider from another hand at `localhost`: another site, to which strict cookies do not go along. */
describe.skipIf(executablePath === undefined)('signing in at a provider on another site, in a real browser', () => {
  let running: RunningWorld
  let world: World
  let domainId: string
  /** Where the provider asks whether somebody wants to be signed in. */
  let consent: StubIssuer
  let browser: Browser
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    running = await startWorld(EMBEDDED)
    ;({ world } = running)
    const domain = await world.make('CreateDomain', { body: { slug: world.name(), display_name: 'Bound' } })
    domainId = domain.id
    const issuer = { issuer: world.issuer.url, client_id: 'web', allow_private_network: true }
    const body = { alias: 'corp', label: 'Corp', auto_provision: { email_domains: ['acme.example'] }, ...issuer }
    await world.make('PostAdminIdP', { domain_id: domainId, body })
    consent = await startStubIssuer()
    consent.on('/consent', consentPage)
    world.issuer.server.service.on('beforeAuthorizeRedirect', ({ url }: { readonly url: URL }) => {
      url.href = `http://localhost:${consent.port}/consent?to=${encodeURIComponent(url.href)}`
    })
    const person = { sub: 'ana', name: 'Ana', email: 'ana@acme.example', email_verified: true }
    world.issuer.forgery = { claims: person }
    // Chromium refuses to run as root inside its own sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  })
  beforeEach(async () => {
    context = await browser.newContext()
    page = await context.newPage()
    page.setDefaultTimeout(15_000)
  })
  afterEach(() => context.close())
  afterAll(async () => {
    await browser?.close()
    await consent?.stop()
    await running?.stop()
  })

  const agree = () => page.getByRole('link', { name: 'Sign me in' }).click()
  const says = (text: string) => page.getByText(text, { exact: true }).waitFor()

  async function signIn(): Promise<void> {
    await page.goto(`${world.url}/?domain_id=${domainId}`)
    await page.getByRole('button', { name: 'Sign in with Corp' }).click()
    await agree()
    await says('You are signed in.')
  }

  async function send(path: string, body: object) {
    const headers = { 'content-type': 'application/json' }
    return exchange(world.url, { method: 'POST', path, headers, body: JSON.stringify(body) })
  }
  async function begin(): Promise<Codes> {
    const { json } = await send('/v1/auth/device-code', { domain_id: domainId })
    // What the operation answers, which the conformance tests check.
    return json as unknown as Codes
  }
  const poll = async ({ device_code: code }: Codes) =>
    (await send('/v1/auth/device-token', { device_code: code })).json ?? {}
  const whoami = async (): Promise<unknown> => (await context.request.get(`${world.url}/v1/auth/whoami`)).json()

  it('comes back signed in, with a cookie that goes to no other site', async () => {
    await signIn()
    expect(await page.locator('#who').textContent()).toBe('Signed in as Ana')
    expect(new URL(page.url()).origin).toBe(world.url)
    const cookies = await context.cookies()
    const session = cookies.find(({ name }) => name === 'service_session')
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/v1/' })
    expect(cookies.map(({ name }) => name)).not.toContain('service_signin')
  })

  it('approves a device without a session: the sign-in leads back to the code', async () => {
    const codes = await begin()
    await page.goto(codes.verification_uri_complete)
    await agree()
    await page.getByRole('heading', { name: 'Sign this device in?' }).waitFor()
    expect([await page.locator('#code').textContent(), await poll(codes)]).toEqual([
      codes.user_code,
      expect.objectContaining({ error: 'authorization_pending' }),
    ])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    const { access_token: token } = await poll(codes)
    const me = await world.makeAs(String(token), 'GetAuthWhoami', {})
    expect(await whoami()).toMatchObject({ subject: me.subject, kind: 'user', display_name: 'Ana' })
  })

  it('approves a device with a session, refuses another, and says of a third that it has expired', async () => {
    await signIn()
    const [approved, refused, late] = [await begin(), await begin(), await begin()]
    await page.goto(approved.verification_uri_complete)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(await poll(approved)).toMatchObject({ token_type: 'Bearer' })
    await page.goto(refused.verification_uri_complete)
    await page.getByRole('button', { name: 'Refuse' }).click()
    await page.getByRole('heading', { name: 'Refused' }).waitFor()
    expect(await poll(refused)).toMatchObject({ error: 'access_denied' })
    await page.goto(late.verification_uri_complete)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await running.datastore
      .pool('interactive')
      .updateTable('device_sign_ins')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .where('user_code', '=', late.user_code.replace('-', ''))
      .execute()
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('It may have expired')
    expect(await poll(late)).toMatchObject({ error: 'expired_token' })
  })

  it('is not repeated by going back and agreeing once more, and stays as it was', async () => {
    await signIn()
    const before = await whoami()
    await page.goBack()
    await agree()
    await page.getByRole('alert').waitFor()
    await says('You are signed in.')
    expect(await whoami()).toEqual(before)
  })

  it('is over after signing out: neither going back nor the device page knows anybody', async () => {
    await signIn()
    await page.goto(`${world.url}/v1/device`)
    await page.getByText('You are signed in as').waitFor()
    await page.goto(`${world.url}/?domain_id=${domainId}`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    // The provider announces where its own session ends.
    await page.waitForURL(/\/endsession\?/)
    await page.goBack()
    await page.waitForLoadState()
    expect(await page.getByText('You are signed in as').count()).toBe(0)
    expect(await whoami()).toMatchObject({ code: 'unauthenticated' })
    const codes = await begin()
    await page.goto(codes.verification_uri_complete)
    await page.getByRole('link', { name: 'Sign me in' }).waitFor()
  })

  it('says at home why nobody was let in, and makes nobody', async () => {
    const people = async () => (await world.make('ListIdentities', { id: domainId, kind: 'user' })).items.length
    const before = await people()
    world.issuer.forgery = { claims: { sub: 'eve', email: 'eve@other.example', email_verified: true } }
    await page.goto(`${world.url}/?domain_id=${domainId}`)
    await page.getByRole('button', { name: 'Sign in with Corp' }).click()
    await agree()
    expect(await page.getByRole('alert').textContent()).toContain('Nobody has let this person into the Domain.')
    await says('You are not signed in.')
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('service_session')
    expect(await people()).toBe(before)
  })
})

/** A page on which somebody agrees to be signed in. */
function consentPage(
  { url = '' }: { readonly url?: string },
  response: { setHeader(name: string, value: string): void; end(text: string): void },
): void {
  const to = new URL(url, 'http://provider').searchParams.get('to') ?? ''
  response.setHeader('content-type', 'text/html')
  response.end(`<!doctype html><title>Provider</title><a href="${to.replaceAll('&', '&amp;')}">Sign me in</a>`)
}
