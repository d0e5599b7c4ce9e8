import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../support/sign-in/local-provider.ts'
import { relyingParty } from '../support/sign-in/relying-party.ts'
import { requirement } from '../support/run/requirements.mjs'
import { EMBEDDED } from '../support/datastores/stores.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const executablePath = requirement('chromium')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PHONE = { width: 360, height: 740 }
/** Set to a folder to look at the pages. */
const shots = process.env['CTL_TEST_SCREENSHOTS']

describe.skipIf(executablePath === undefined)('the pages of the bundled provider in a real browser', () => {
  let local: LocalProvider
  let party: Awaited<ReturnType<typeof relyingParty>>
  let browser: Browser
  let page: Page
  let devtools: CDPSession
  let complaints: string[]

  beforeAll(async () => {
    local = await startLocalProvider(EMBEDDED, 'localhost')
    party = await relyingParty(local.baseUrl)
    // Chromium refuses to run as root inside its own sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  })
  afterAll(async () => {
    await browser?.close()
    await local?.stop()
  })
  beforeEach(async () => {
    const context = await browser.newContext({ viewport: PHONE, bypassCSP: false })
    page = await context.newPage()
    complaints = []
    page.on('console', (message) => {
      // Beside the provider this server has nothing: neither where the callback leads nor an icon.
      if (message.type() === 'error' && message.location().url.includes('/idp/')) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    return async () => {
      // A form that was refused is an answer with 400, which Chromium notes as an error.
      expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([])
      await context.close()
    }
  })

  const addAuthenticator = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    })

  async function begin(parameters: Readonly<Record<string, string>> = {}) {
    const begun = await party.begin(parameters)
    await page.goto(begun.url.href)
    return begun
  }

  async function signIn(login: string): Promise<void> {
    await page.getByLabel('Login', { exact: true }).fill(login)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  /** What is wrong with the page for people who see, hear or move in other ways; nothing serious may be. */
  async function lookAt(name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}-${colorScheme}.png`, fullPage: true })
      // Through the debugger, which the policy of the page does not hold.
      await devtools.send('Runtime.evaluate', { expression: AXE })
      const { result } = await devtools.send('Runtime.evaluate', {
        expression: `axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, impact }) => id + ' ' + impact)))`,
        awaitPromise: true,
        returnByValue: true,
      })
      expect(JSON.parse(String(result.value)), `${name} ${colorScheme}`).toEqual([])
    }
    await page.emulateMedia({ colorScheme: null })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} is too wide`).toBe(true)
  }

  const callback = () => page.waitForURL((url) => url.pathname === '/v1/auth/callback')

  test('a person sets up a passkey as the second factor, and then signs in with it alone', async () => {
    const { id } = await local.account('pia')
    await addAuthenticator(true)
    const first = await begin({ acr_values: 'mfa' })
    await lookAt('sign-in')
    await signIn('pia')
    await page.getByRole('button', { name: 'Set up a passkey' }).waitFor()
    await lookAt('enrol')
    await page.getByRole('button', { name: 'Set up a passkey' }).click()
    await page.getByRole('button', { name: 'I have kept them' }).waitFor()
    await lookAt('recovery-codes')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await callback()
    const claims = await first.finish(new URL(page.url()))
    expect(claims).toMatchObject({ acr: 'mfa', amr: ['pwd', 'hwk', 'user', 'mfa'] })

    await page.context().clearCookies()
    const second = await begin()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await callback()
    expect(await second.finish(new URL(page.url()))).toMatchObject({
      sub: id,
      acr: 'mfa',
      amr: ['hwk', 'user', 'mfa'],
    })

    await page.context().clearCookies()
    const third = await begin()
    await signIn('pia')
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
    await lookAt('second-factor')
    await page.getByText('Use a recovery code instead').click()
    await lookAt('second-factor-recovery')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await callback()
    expect(await third.finish(new URL(page.url()))).toMatchObject({ acr: 'mfa', amr: ['pwd', 'hwk', 'user', 'mfa'] })
  })

  test('a passkey that did not verify the person signs nobody in', async () => {
    await local.account('uma')
    const { authenticatorId } = await addAuthenticator(true)
    await begin({ acr_values: 'mfa' })
    await signIn('uma')
    await page.getByRole('button', { name: 'Set up a passkey' }).click()
    await page.getByRole('button', { name: 'Go on without recovery codes' }).click()
    await callback()
    await page.context().clearCookies()
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await begin()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('The browser gave no passkey.').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/idp\/interaction\//)
  })

  test('without a script everything but passkeys is there', async () => {
    await local.account('nora', { isOneTime: true })
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false })
    page = await context.newPage()
    const begun = await begin()
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).toBe(false)
    await signIn('nora')
    await page.getByLabel('New password', { exact: true }).fill('four otters at dawn')
    await page.getByLabel('New password, once more').fill('four otters at dawn')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByRole('button', { name: 'Not now' }).click()
    await callback()
    expect(await begun.finish(new URL(page.url()))).toMatchObject({ acr: 'pwd' })
    await context.close()
  })

  test('what went wrong is said on the page, which keeps the login', async () => {
    await begin()
    await signIn('nobody')
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByRole('alert').first().textContent()).toContain('Login or password is wrong.')
    expect(await page.getByLabel('Login', { exact: true }).inputValue()).toBe('nobody')
    await lookAt('refused')
  })

  test('the page for a new password is fit for all', async () => {
    await local.account('neo', { isOneTime: true })
    await begin()
    await signIn('neo')
    await page.getByLabel('New password', { exact: true }).waitFor()
    await lookAt('new-password')
  })
})
