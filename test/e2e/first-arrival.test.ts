import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { firstArrival } from '../../src/server/http/pages/first-arrival.ts'
import { markup } from '../../src/shared/pages/markup.ts'
import { pageDocument } from '../../src/shared/pages/page-document.ts'
import { startEdge, type Edge } from '../support/server/edge.ts'
import { SUBJECTS } from '../support/server/fixture-callers.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const executablePath = requirement('chromium')

describe.skipIf(executablePath === undefined)('the return from an identity provider on another site', () => {
  let edge: Edge
  let elsewhere: Server
  let browser: Browser
  let context: BrowserContext
  let visited: string[] = []

  beforeAll(async () => {
    edge = await startEdge({
      pages: [
        {
          method: 'GET',
          path: '/v1/fixture/page',
          handler(visit) {
            const answer = firstArrival(visit)
            visited.push(`${visit.arriving.fetchSite} ${answer === undefined ? 'shown' : 'refreshed'}`)
            const body = markup`<h1>${visit.session?.subject ?? 'nobody'}</h1>`
            return answer ?? { document: pageDocument({ title: 'A page', body }) }
          },
        },
      ],
    })
    // `localhost` is another site than `127.0.0.1`.
    elsewhere = createServer(({ url }, response) => {
      if (url === '/done') response.writeHead(303, { location: `http://127.0.0.1:${edge.port}/v1/fixture/page?q=1` })
      else response.setHeader('content-type', 'text/html')
      response.end('<a href="/done">Go on</a>')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, 'localhost', resolve))
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  })
  afterEach(async () => {
    await context.close()
    visited = []
  })
  afterAll(async () => {
    await browser?.close()
    elsewhere?.close()
    await edge?.app.drain(1000)
  })

  async function comeBack(cookies: readonly { name: string; value: string }[]): Promise<string | null> {
    context = await browser.newContext()
    const place = { domain: '127.0.0.1', path: '/v1/', httpOnly: true, sameSite: 'Strict' } as const
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, ...place })))
    const page = await context.newPage()
    await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`)
    await page.getByText('Go on').click()
    await page.locator('h1').waitFor()
    return page.locator('h1').textContent()
  }

  test('finds the session at the second look, which begins on this site', async () => {
    expect(await comeBack([{ name: 'service_session', value: 'ses_admin' }])).toBe(SUBJECTS.admin)
    expect(visited).toEqual(['cross-site refreshed', 'same-origin shown'])
  })

  test('takes a browser without a session for signed out after one more look', async () => {
    expect(await comeBack([])).toBe('nobody')
    expect(visited).toEqual(['cross-site refreshed', 'same-origin shown'])
  })
})
