import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'

/** The password that the administrator of the tests sets. */
const PASSWORD = 'eleven herons at the weir'

/** How a browser is set up. */
export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce'
}

/** A page of the console, and what its browser complained of. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, violations of the policy, and requests to other servers. */
  readonly complaints: readonly string[]
}

/** The state of a browser after a sign-in. */
export type BrowserState = Awaited<ReturnType<BrowserContext['storageState']>>

/** Opens an address of the console in a browser of its own. */
export async function visit(
  browser: Browser,
  url: string,
  { state, look = {} }: { readonly state?: BrowserState; readonly look?: Look } = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    ...look,
    ...(state !== undefined && { storageState: state }),
  })
  // A machine that does other things as well takes its time over a password.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: string[] = []
  const { origin } = new URL(url)
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  page.on('console', (message) => {
    // What a browser says of an answer is no complaint about the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  await page.goto(url)
  return { page, context, complaints }
}

/** Signs the first administrator in from the signed-out console, with the password of the first start. */
export async function signInFirst(page: Page, dataDir: string): Promise<void> {
  const initial = readFileSync(join(dataDir, 'initial-password'), 'utf8').trim()
  // The only way to sign in is taken at once.
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Login').fill('admin')
  await page.getByLabel('Password').fill(initial)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('New password, once more').fill(PASSWORD)
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
}

/** Signs the administrator in once more, in a browser that has not seen the server, which has several Domains by now. */
export async function signInAgain(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Domain').fill('default')
  await page
    .getByRole('button', { name: /^Sign in/ })
    .first()
    .click()
  await page.getByLabel('Login').fill('admin')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** What an accessibility checker finds that is serious or critical, by rule and place. */
export async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const run = `axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ' ' + failureSummary)))`
  return page.evaluate<readonly string[]>(run)
}

/** How much wider than the window without the gutter of its scrollbar the page is, in px. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.offsetWidth')
}
