import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startWorld, type RunningWorld } from '../conformance/world.ts'
import { requirement } from '../support/run/requirements.mjs'
import { EMBEDDED } from '../support/datastores/stores.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const executablePath = requirement('chromium')
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 360, height: 740 }

/** Where pictures of the pages are put, for people to look at. */
const PICTURES = process.env['CTL_TEST_PICTURES']

interface Wish {
  readonly cookies?: string
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly javaScriptEnabled?: boolean
  readonly path?: string
}

describe.skipIf(executablePath === undefined)('the start page in a real browser', () => {
  let running: RunningWorld
  let browser: Browser
  let context: BrowserContext | undefined
  let complaints: string[] = []

  beforeAll(async () => {
    running = await startWorld(EMBEDDED)
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  })
  afterEach(async () => {
    await context?.close()
    context = undefined
    complaints = []
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  async function visit({ cookies, path = '/', ...look }: Wish = {}): Promise<Page> {
    context = await browser.newContext({ viewport: DESKTOP, ...look })
    const place = { domain: '127.0.0.1', path: '/v1/', sameSite: 'Strict' } as const
    const set = (cookies?.split('; ') ?? []).map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return { name, value, httpOnly: name === 'service_session', ...place }
    })
    await context.addCookies(set)
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      // What a browser says of an answer is no complaint about the page.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    await page.goto(`${running.world.url}${path}`)
    return page
  }

  const stateOf = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor()

  async function picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `home-${name}.png`), fullPage: true })
  }

  /** What an accessibility checker finds, by rule. It runs beside the page, whose policy lets no script in but its own. */
  async function findings(page: Page): Promise<readonly string[]> {
    await page
      .locator('#status')
      .filter({ hasText: /signed in/ })
      .waitFor()
    return checked(page)
  }

  async function checked(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe.source)
    const run = "axe.run().then(({ violations }) => violations.map(({ id, impact }) => impact + ': ' + id))"
    return page.evaluate<readonly string[]>(run)
  }

  test('says who is signed in', async () => {
    const page = await visit({ cookies: await running.world.signedIn() })
    await stateOf(page, 'You are signed in.')
    expect(await page.locator('#who').textContent()).toBe('Signed in as A person')
    expect(await page.locator('#subject').textContent()).toMatch(/^user:[0-9a-f-]{36}$/)
    expect(await page.locator('#domain').textContent()).toMatch(/^Conformance \([a-z0-9-]+\)$/)
    expect(await page.locator('#command').textContent()).toBe(`ctl login --url ${running.world.url}`)
    await picture(page, 'signed-in')
    expect(complaints).toEqual([])
  })

  test('lists the second factors of a local account, and removes one that is not needed once that is confirmed', async () => {
    const page = await visit({ cookies: await running.world.signedInWithFactor(), viewport: PHONE })
    const row = page.locator('#factor-list li')
    await row.waitFor()
    expect(await row.textContent()).toMatch(/^Authenticator app, set up .+, not used yet Remove$/)
    expect(await findings(page)).toEqual([])
    await picture(page, 'factors-phone')
    page.once('dialog', (dialog) => void dialog.dismiss())
    await row.getByRole('button').click()
    expect(await row.count()).toBe(1)
    page.once('dialog', (dialog) => void dialog.accept())
    await row.getByRole('button').click()
    await stateOf(page, 'The second factor is removed.')
    expect(await page.locator('#factors').isHidden()).toBe(true)
    await page.reload()
    await stateOf(page, 'You are signed in.')
    expect(await page.locator('#factors').isHidden()).toBe(true)
    expect(complaints).toEqual([])
  })

  test.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', { ...PHONE, width: 390 }],
    ['dark', { ...PHONE, width: 390 }],
  ] as const)('leads to the page of a local account, which is fit for all: %s, %o', async (colorScheme, viewport) => {
    const page = await visit({ cookies: await running.world.signedInWithFactor(), colorScheme, viewport })
    await page.getByRole('link', { name: 'Password and recovery codes' }).click()
    await page.getByRole('heading', { name: 'Your local account' }).waitFor()
    const names = ['username', 'current_password', 'password', 'again']
    const completions = names.map((name) => page.locator(`[name=${name}]`).getAttribute('autocomplete'))
    expect(await Promise.all(completions)).toEqual(['username', 'current-password', 'new-password', 'new-password'])
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password', { exact: true }).fill('four otters at dawn')
    await page.getByLabel('New password, once more').fill('four otters at noon')
    await page.getByRole('button', { name: 'Change the password' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('The two new passwords differ.')
    await picture(page, `account-${colorScheme}-${viewport.width}`)
    expect(await checked(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(complaints).toEqual([])
  })

  test('an address where nothing is shows a page', async () => {
    const page = await visit({ path: '/v2/nothing', colorScheme: 'dark' })
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await picture(page, 'nothing-dark')
    expect(await checked(page)).toEqual([])
  })

  test('signs out, for this browser', async () => {
    const page = await visit({ cookies: await running.world.signedIn() })
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await stateOf(page, 'You are signed out.')
    expect(await context?.cookies()).toEqual([])
    await page.reload()
    await stateOf(page, 'You are not signed in.')
    expect(complaints).toEqual([])
  })

  test('signs out of every browser', async () => {
    const page = await visit({ cookies: await running.world.signedIn() })
    await page.getByRole('button', { name: 'Sign out of every browser' }).click()
    await stateOf(page, 'You are signed out.')
    expect(await context?.cookies()).toEqual([])
  })

  test('offers to sign in where nobody is, and works by the keyboard alone', async () => {
    const page = await visit()
    await stateOf(page, 'You are not signed in.')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in')
    const asked = page.waitForRequest((request) => request.url().endsWith('/v1/auth/sign-in'))
    await page.keyboard.press('Enter')
    expect((await asked).postDataJSON()).toEqual({ return_to: '/' })
  })

  test('lists the identity providers of a Domain, and begins with the one that is chosen', async () => {
    const bindings = [
      { id: '01935b5e-8f3a-7c61-9d0a-000000000001', alias: 'a', label: 'Acme <b>', issuer_host: 'id.acme.example' },
      { id: '01935b5e-8f3a-7c61-9d0a-000000000002', alias: 'b', label: 'Other', issuer_host: 'id.other.example' },
    ]
    const page = await visit()
    await page.route('**/v1/auth/idp-bindings?*', (route) => route.fulfill({ json: bindings }))
    const order: unknown[] = []
    await page.route('**/v1/auth/sign-in', (route) => {
      order.push(route.request().postDataJSON())
      return route.fulfill({ json: { authorization_url: `${running.world.url}/livez` } })
    })
    await page.goto(`${running.world.url}/?domain_id=${running.world.domainId}`)
    await expect
      .poll(() => page.locator('#providers button').allTextContents())
      .toEqual([
        'Sign in with Acme <b> (id.acme.example)',
        'Sign in with Other (id.other.example)',
        'Sign in elsewhere',
      ])
    await picture(page, 'signed-out')
    await page.getByRole('button', { name: 'Sign in with Other' }).click()
    await page.waitForURL('**/livez')
    expect(order).toEqual([{ domain_id: running.world.domainId, idp_binding_id: bindings[1]?.id, return_to: '/' }])
  })

  test.each([
    ['not_invited', 'Nobody has let this person into the Domain. Correlation id: abc'],
    ['<img src=x onerror=alert(1)>', 'The sign-in failed: <img src=x onerror=alert(1)>. Correlation id: abc'],
    ['constructor', 'The sign-in failed: constructor. Correlation id: abc'],
  ])('says the problem %s as a sentence, and leaves it out of the address', async (code, sentence) => {
    const page = await visit({ path: `/?problem=${encodeURIComponent(code)}&correlation_id=abc` })
    await stateOf(page, 'You are not signed in.')
    expect(await page.getByRole('alert').textContent()).toBe(sentence)
    expect(page.url()).toBe(`${running.world.url}/`)
    expect(complaints).toEqual([])
  })

  test('explains itself without scripts', async () => {
    const page = await visit({ javaScriptEnabled: false })
    expect(await page.locator('noscript').textContent()).toContain('ctl login')
  })

  test.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', PHONE],
    ['dark', PHONE],
  ] as const)(
    'has nothing that a checker of accessibility complains about, and fits: %s, %o',
    async (colorScheme, viewport) => {
      for (const cookies of [undefined, await running.world.signedIn()]) {
        const page = await visit({ colorScheme, viewport, ...(cookies !== undefined && { cookies }) })
        expect(await findings(page)).toEqual([])
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect(overflow).toBe(0)
        await picture(page, `${cookies === undefined ? 'out' : 'in'}-${colorScheme}-${viewport.width}`)
        await context?.close()
      }
    },
  )
})
