import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { depth } from '../support/run/depth.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const executablePath = requirement('chromium')
const OPERATIONS = Object.values(contract).flatMap(({ operations }) => Object.entries<Operation>(operations))
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 375, height: 812 }
/** A page that a person would wait for on a busy machine; an idle one takes about a second. */
const DRAWN_MS = 40_000
const PATIENTLY = { timeout: 20_000 }

/** A page with everything that it did and should not have. */
interface Visit {
  readonly page: Page
  /** Addresses off this server. */
  readonly elsewhere: readonly string[]
  /** Policy violations, script errors, console errors and failed requests. */
  readonly complaints: readonly string[]
}

// Runs in the browser, which these types know nothing of.
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy violation', event.violatedDirective, event.blockedURI))`

describe.skipIf(executablePath === undefined)('the documentation page in a real browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-docs-'))
  let server: CtlProcess
  let browser: Browser
  /** Drawn once on a desktop in the light scheme, and once on a phone: drawing takes seconds. Tests leave them as they found them. */
  let drawn: Visit
  let onPhone: Visit

  beforeAll(async () => {
    server = await startCtl({ args: ['--data-dir', join(folder, 'data')] })
    // Chromium refuses to run as root inside its own sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
    drawn = await visit(DESKTOP)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  /** Opens the page, and waits for nothing that it loads or draws. */
  async function open(
    viewport: { readonly width: number; readonly height: number },
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Visit> {
    const page = await browser.newPage({ viewport, colorScheme })
    const elsewhere: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${server.url}/`) && !url.startsWith(`blob:${server.url}/`)) elsewhere.push(url)
    })
    page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`))
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.url()} answered ${response.status()}`)
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.addInitScript(REPORT_VIOLATIONS)
    await page.goto(`${server.url}/v1/docs`, { waitUntil: 'commit' })
    return { page, elsewhere, complaints }
  }

  /** Opens the page and waits until it is loaded and drawn. */
  async function visit(...how: Parameters<typeof open>): Promise<Visit> {
    const opened = await open(...how)
    await opened.page.waitForLoadState('load')
    await opened.page.locator('[id="tag/nodes"]').waitFor({ timeout: DRAWN_MS })
    return opened
  }

  test('shows every operation, and neither breaks its policy nor reaches beyond this server', async () => {
    const { page, elsewhere, complaints } = drawn
    const sections = await page.evaluate<readonly (readonly [id: string, title: string | null])[]>(SECTIONS)
    for (const [id, { summary }] of OPERATIONS) {
      const section = sections.find(([each]) => each.endsWith(`/operation/${id}`))
      expect(section, `${id} is not on the page`).toBeDefined()
      expect(section?.[1]).toBe(summary)
    }
    // A search by label computes that of every element of a long page, which took 30 s beside other tests.
    const search = page.locator('input[aria-label="Search"]')
    await search.fill('heartbeat')
    const results = page.locator('[data-role="search:results"] li')
    await results.first().waitFor()
    await search.fill('')
    await results.first().waitFor({ state: 'detached' })
    expect({ elsewhere, complaints }).toEqual({ elsewhere: [], complaints: [] })
  })

  test('would be caught reaching beyond this server', async () => {
    const { page, complaints } = await open(DESKTOP)
    await page.evaluate("void (new Image().src = 'https://elsewhere.example/logo.svg')")
    await expect
      .poll(() => complaints, PATIENTLY)
      .toContain('policy violation img-src https://elsewhere.example/logo.svg')
    await page.close()
  })

  test('explains credentials, names chapters for people and keeps holes in texts', async () => {
    const { page } = drawn
    const menu = page.getByRole('menuitem', { name: 'Fleet', exact: true })
    expect(
      await menu
        .getByRole('menuitem')
        .filter({ hasText: /^Join tokens/ })
        .count(),
    ).toBe(1)
    expect(await page.locator('[id="section/Credentials"]').textContent()).toContain('apiToken')
    const grant = await page.locator('[id$="/operation/CreateDomainGrant"]').textContent()
    expect(grant).toContain('group:<uuid>#member')
    expect(grant).toMatch(/scope: *grants:write *needs: *manage on domain:\{path\.id\}/)
  })

  test('hands out the contract that it carries, unchanged', async () => {
    const { page, complaints } = drawn
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download', exact: true }).click(),
    ])
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8'))
    expect(saved).toEqual(JSON.parse((await page.locator('#contract').textContent()) ?? ''))
    expect(download.suggestedFilename()).toBe('openapi.json')
    expect(complaints).toEqual([])
    await page.mouse.move(0, 0)
  })

  test('can be read on a phone: nothing is cut off at 375 px, and no text is small', async () => {
    onPhone = await visit(PHONE)
    const { page, complaints } = onPhone
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    expect(await page.evaluate(SMALL_TEXTS)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('opens its menu by keyboard where the window is narrow', async () => {
    const { page } = onPhone
    const entry = page.locator('[data-item-id="tag/grants"]')
    expect(await entry.isVisible()).toBe(false)
    // The search for a role computes that of every element of a long page.
    await page.locator('[role="button"][aria-label="Menu"]').focus()
    await page.keyboard.press('Enter')
    await entry.waitFor({ state: 'visible' })
    await page.keyboard.press('Enter')
    await entry.waitFor({ state: 'hidden' })
  })

  test.each(['dark', 'light'] as const)(
    'follows the browser into the %s scheme, in which every text can be read',
    async (scheme) => {
      const { page, complaints } = drawn
      await page.emulateMedia({ colorScheme: scheme })
      // The page loads itself again: what the renderer has drawn must be there in the new colours.
      await expect.poll(() => page.evaluate<string | null>(MENU_GROUND), { timeout: DRAWN_MS }).toBe(MENU[scheme])
      await page.locator('[id="tag/nodes"]').waitFor({ timeout: DRAWN_MS })
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(PAGE[scheme])
      // Through the debugger, which the policy of the page does not hold.
      const devtools = await page.context().newCDPSession(page)
      await devtools.send('Runtime.evaluate', { expression: `globalThis.axe ?? (() => { ${axe.source} })()` })
      const { result, exceptionDetails } = await devtools.send('Runtime.evaluate', {
        expression: UNREADABLE,
        awaitPromise: true,
        returnByValue: true,
      })
      expect(exceptionDetails).toBeUndefined()
      expect(result.value).toEqual([])
      expect(complaints).toEqual([])
      // The checker looks at every text of a long page.
    },
    240_000,
  )

  test('says what to do where scripts do not run', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${server.url}/v1/docs`)
    expect(await page.locator('noscript').textContent()).toContain('ctl openapi')
    await context.close()
  })

  // The last one: it leaves the page where it has gone.
  test('can be used with the keyboard alone', async () => {
    const { page } = drawn
    const chapter = page.locator('[data-item-id="tag/grants"]')
    const entry = chapter.locator('[data-item-id$="/operation/CreateDomainGrant"]')
    expect(await entry.isVisible()).toBe(false)
    await tabTo(page, 'tag/grants')
    await page.keyboard.press('Enter')
    await entry.waitFor({ state: 'visible' })
    await tabTo(page, 'operation/CreateDomainGrant')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#tag\/grants\/operation\/CreateDomainGrant$/)
    await expect.poll(() => isInView(page, '[id="tag/grants/operation/CreateDomainGrant"]'), PATIENTLY).toBe(true)
  })
})

/** The id of every section of an operation, with its title. */
const SECTIONS = `[...document.querySelectorAll('[id*="/operation/"]')].map((each) =>
  [each.id, each.querySelector('h2')?.textContent.trim() ?? null])`

/** The ground of the menu, which the renderer draws, and that of the page, which the style sheet does. */
const MENU = { light: 'rgb(250, 250, 250)', dark: 'rgb(30, 34, 38)' }
const PAGE = { light: 'rgb(255, 255, 255)', dark: 'rgb(20, 23, 26)' }
const MENU_GROUND = `(() => {
  const menu = document.querySelector('.menu-content')
  return menu && getComputedStyle(menu).backgroundColor
})()`

/** Every operation is drawn in the same colours, and the checker takes a second for a few of them. */
const OPERATIONS_A_CHECK = depth({ ci: 25, deep: 1 })

/** Pairs of colours whose contrast is too low, with an example. */
const UNREADABLE = `axe.run({ include: [
  ...document.querySelectorAll('#docs .menu-content, #docs [id^="section/"]'),
  ...[...document.querySelectorAll('#docs [id*="/operation/"]')].filter((_, at) => at % ${OPERATIONS_A_CHECK} === 0),
] }, { runOnly: ['color-contrast'] }).then(({ violations, passes }) => {
  if (passes.flatMap((each) => each.nodes).length < 500) throw new Error('hardly a text was looked at')
  const nodes = violations.flatMap((each) => each.nodes)
  return [...new Map(nodes.map(({ any: [{ data }], html }) => [data.fgColor + ' on ' + data.bgColor, html.slice(0, 120)]))]
})`

/** Texts that somebody has to read, smaller than 14 px; labels of frames in code samples may be. */
const SMALL_TEXTS = `(() => {
  const found = new Set()
  const walker = document.createTreeWalker(document.getElementById('docs'), NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { parentElement: parent, textContent } = node
    if (textContent.trim() === '' || textContent === 'Content type' || !parent.checkVisibility()) continue
    const size = Number.parseFloat(getComputedStyle(parent).fontSize)
    if (size < 14) found.add(size + ' px: ' + textContent)
  }
  return [...found]
})()`

/** Presses Tab until the menu's entry is reached. Throws when it never is. */
async function tabTo(page: Page, id: string): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate('document.activeElement?.getAttribute("data-item-id")')
    if (String(at).endsWith(id)) return
  }
  throw new Error(`Tab never reaches ${id}`)
}

async function isInView(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox()
  return box !== null && box.y > -50 && box.y < DESKTOP.height
}
