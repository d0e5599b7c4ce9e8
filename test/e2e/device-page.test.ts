import axe from 'axe-core'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CSRF_COOKIE, SESSION_COOKIE } from '../../src/server/ports/sessions.ts'
import { problem } from '../../src/shared/problems.ts'
import type { OpenSession } from '../support/sign-in/browser-sessions.ts'
import { addBinding, startDevicePlane, type DeviceCodes, type DevicePlane } from '../support/sign-in/device-plane.ts'
import { freePort } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'
import { EMBEDDED } from '../support/datastores/stores.ts'
import { startStubIssuer, type StubIssuer } from '../support/sign-in/stub-issuer.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const executablePath = requirement('chromium')
const PHONE = { width: 375, height: 812 }
/** Where pictures of every page go, for people to look at. */
const PICTURES = process.env['CTL_TEST_PICTURES']
const MINUTE = 60_000

describe.skipIf(executablePath === undefined)('approving a device in a real browser', () => {
  let plane: DevicePlane
  /** On another site than the server: `localhost` against `127.0.0.1`. */
  let provider: StubIssuer
  let providerUrl: string
  let browser: Browser
  /** Who the provider says it is. */
  let person: { readonly id: string; readonly session: OpenSession }
  let isChoosing = false

  beforeAll(async () => {
    provider = await startStubIssuer('127.0.0.1')
    providerUrl = `http://localhost:${provider.port}`
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    plane = await startDevicePlane(EMBEDDED, {
      port,
      baseUrl: url,
      async startSignIn({ returnTo, where }) {
        if (isChoosing && where.idp_binding_id === undefined) throw problem('multiple-bindings')
        const back = `${url}/v1/auth/back?${new URLSearchParams({ to: returnTo }).toString()}`
        return { location: `${providerUrl}/authorize?${new URLSearchParams({ back }).toString()}`, cookies: [] }
      },
      pages: () => [
        {
          method: 'GET',
          path: '/v1/auth/back',
          // Stands for the callback: gives the browser its session and sends it where the sign-in came from.
          handler: ({ query }) => ({ location: query.get('to') ?? '/', cookies: cookies(person.session) }),
        },
      ],
    })
    provider.on('/authorize', providerPage)
    person = await plane.person()
    // Chromium refuses to run as root inside its own sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
    if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true })
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
    await provider?.stop()
  })

  /** A page with what it complained of: policy violations, script errors, failed requests. */
  async function open(
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('status of 4')) complaints.push(message.text())
    })
    return { page, context, complaints }
  }

  async function signedIn(options: BrowserContextOptions = {}) {
    const opened = await open(options)
    const mine = await plane.person()
    await opened.context.addCookies(
      cookies(mine.session).map(({ name, value }) => ({
        name,
        value,
        url: `${plane.url}/v1/`,
        sameSite: 'Strict' as const,
      })),
    )
    return { ...opened, mine }
  }

  const stateOf = async ({ user_code: code }: DeviceCodes) =>
    (
      await plane.db
        .selectFrom('device_sign_ins')
        .select('state')
        .where('user_code', '=', code.replace('-', ''))
        .executeTakeFirstOrThrow()
    ).state

  const heading = (page: Page) => page.locator('h1').textContent()

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])(
    'signs in at a provider on another site, comes back to the code and approves, %s',
    async (_, javaScriptEnabled) => {
      const codes = await plane.begin({ client_name: 'ctl on build-7' })
      const { page, context, complaints } = await open({ javaScriptEnabled })
      await page.goto(codes.verification_uri_complete)
      await page.getByRole('link', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Sign this device in?' }).waitFor()
      expect(await page.locator('#code').textContent()).toBe(codes.user_code)
      expect(await stateOf(codes)).toBe('pending')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      const { status, body } = await plane.poll(codes.device_code)
      expect(status).toBe(200)
      const me = await plane.call(String(body['access_token']), 'GET /v1/auth/whoami')
      expect(me.body['subject']).toBe(`user:${person.id}`)
      expect(complaints).toEqual([])
      await context.close()
    },
  )

  it('types the code with the keyboard alone and refuses', async () => {
    const codes = await plane.begin()
    const { page, context } = await signedIn()
    await page.goto(codes.verification_uri)
    // The page puts the cursor there by itself, after it has loaded.
    await page.locator('[name=user_code]:focus').waitFor()
    await page.keyboard.type(codes.user_code.toLowerCase())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign this device in?' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Refuse')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Refused' }).waitFor()
    expect((await plane.poll(codes.device_code)).body['error']).toBe('access_denied')
    await context.close()
  })

  it('shows what was decided after going back and forward, and decides nothing twice', async () => {
    const codes = await plane.begin()
    const { page, context } = await signedIn()
    await page.goto(codes.verification_uri_complete)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await page.goBack()
    expect(await heading(page)).toBe('Approved')
    await page.goForward()
    expect(await heading(page)).toBe('Approved')
    await page.reload()
    expect([await heading(page), await stateOf(codes)]).toEqual(['Approved', 'approved'])
    await context.close()
  })

  it('says that a code has expired or never was, and lets another be typed', async () => {
    const codes = await plane.begin()
    const { page, context } = await signedIn()
    await page.goto(codes.verification_uri_complete)
    plane.clock.nowMs += 10 * MINUTE
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('It may have expired')
    expect(await page.getByLabel('Code on your device').getAttribute('aria-invalid')).toBe('true')
    expect(await stateOf(codes)).toBe('pending')
    const next = await plane.begin()
    await page.getByLabel('Code on your device').fill(next.user_code)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Sign this device in?' }).waitFor()
    await context.close()
  })

  it('stops guessing after five codes', async () => {
    const { page, context } = await signedIn()
    for (const code of ['BBBB-BBBB', 'CCCC-CCCC', 'DDDD-DDDD', 'FFFF-FFFF', 'GGGG-GGGG']) {
      await page.goto(`${plane.url}/v1/device?user_code=${code}`)
      await page.getByText('No device waits with this code').waitFor()
    }
    const answer = await page.goto(`${plane.url}/v1/device?user_code=HHHH-HHHH`)
    expect([answer?.status(), answer?.headers()['retry-after']]).toEqual([429, '60'])
    await context.close()
  })

  it('is not approved by a link, a frame or a form of another site', async () => {
    const codes = await plane.begin()
    const { page, context, mine } = await signedIn()
    await page.goto(codes.verification_uri_complete)
    expect(await stateOf(codes)).toBe('pending')
    provider.on(
      '/trap',
      (_request: unknown, response: { end(text: string): void; setHeader(name: string, value: string): void }) => {
        response.setHeader('content-type', 'text/html')
        response.end(`<iframe src="${codes.verification_uri_complete}"></iframe>
<form method="post" action="${plane.url}/v1/device"><input name="user_code" value="${codes.user_code}">
<input name="verdict" value="approved"><input name="csrf_token" value="${mine.session.csrfToken}"><button>Win</button></form>`)
      },
    )
    await page.goto(`${providerUrl}/trap`)
    await expect.poll(() => page.frames().length).toBe(2)
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/)
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByText('Correlation id').waitFor()
    expect(await stateOf(codes)).toBe('pending')
    await context.close()
  })

  describe('every page of it', () => {
    /** Brings a page to what is to be looked at. */
    const pages: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
      code: (page) => page.goto(`${plane.url}/v1/device`),
      'wrong-code': (page) => page.goto(`${plane.url}/v1/device?user_code=BBBB-BBBB`),
      async decision(page) {
        const codes = await plane.begin({ client_name: 'ctl on build-7', scope: 'nodes:read audit:read' })
        plane.clock.nowMs += MINUTE
        await page.goto(codes.verification_uri_complete)
      },
      async elsewhere(page) {
        const codes = await plane.begin()
        const userCode = codes.user_code.replace('-', '')
        await plane.db
          .updateTable('device_sign_ins')
          .set({ source_address: '198.51.100.7' })
          .where('user_code', '=', userCode)
          .execute()
        await page.goto(codes.verification_uri_complete)
      },
      async approved(page) {
        await page.goto((await plane.begin()).verification_uri_complete)
        await page.getByRole('button', { name: 'Approve' }).click()
      },
      async refused(page) {
        await page.goto((await plane.begin()).verification_uri_complete)
        await page.getByRole('button', { name: 'Refuse' }).click()
      },
      async 'sign-in-again'(page) {
        const codes = await plane.begin()
        plane.clock.nowMs += 16 * MINUTE
        await page.goto(codes.verification_uri_complete)
      },
      async choice(page) {
        const domain = await plane.domain()
        await addBinding(plane, domain)
        await page.context().clearCookies()
        isChoosing = true
        await page.goto(`${plane.url}/v1/device?domain_id=${domain}`)
        isChoosing = false
      },
      async domain(page) {
        await page.context().clearCookies()
        await page.goto(`${plane.url}/v1/device?domain=nowhere&choose=1`)
      },
      async 'no-cookie'(page) {
        await page.context().clearCookies()
        await page.goto(`${plane.url}/v1/device?returned=1`)
      },
    }

    it.each(Object.keys(pages))('can be read and used by everybody: %s', async (name) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, context } = await signedIn({ viewport: PHONE, colorScheme })
        await pages[name]?.(page)
        await page.locator('h1').waitFor()
        if (PICTURES !== undefined)
          await page.screenshot({ path: join(PICTURES, `${name}.${colorScheme}.png`), fullPage: true })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
        expect(await findings(page)).toEqual([])
        await context.close()
      }
    })
  })
})

const cookies = ({ cookie, csrfToken }: OpenSession) =>
  [
    { name: SESSION_COOKIE, value: cookie, path: '/v1/', sameSite: 'Strict', isHttpOnly: true },
    { name: CSRF_COOKIE, value: csrfToken, path: '/v1/', sameSite: 'Strict', isHttpOnly: false },
  ] as const

interface ProviderExchange {
  end(text: string): void
  setHeader(name: string, value: string): void
}

/** A page on which somebody agrees to be signed in. */
function providerPage({ url = '' }: { url?: string }, response: ProviderExchange): void {
  const back = new URL(url, 'http://provider').searchParams.get('back') ?? ''
  response.setHeader('content-type', 'text/html')
  response.end(`<!doctype html><title>Provider</title><a href="${back.replaceAll('&', '&amp;')}">Sign in</a>`)
}

/** What axe-core finds, of any severity, with where it is. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly string[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  )
  return found
}
