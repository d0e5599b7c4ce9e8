import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { FLOW_STORES } from '../support/datastores/flow-stores.ts'
import { freePort, startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const executablePath = requirement('chromium')
const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const PASSWORD = 'eleven herons at the weir'

/** `ctl login` under way. */
interface Login {
  /** Where the code can be approved. */
  readonly address: string
  readonly ended: Promise<number | null>
}

// Most of the time goes into waiting until the command asks again, which it does on both stores at once.
describe.skipIf(executablePath === undefined).concurrent.each(FLOW_STORES)(
  'ctl login from a box without a browser, on the %s store',
  (kind) => {
    describe.skipIf(kind === 'postgres' && requirement('postgresql') === undefined).sequential('', () => {
      let folder: string
      let cluster: PostgresCluster | undefined
      let server: CtlProcess
      let database: string
      let port: number
      let browser: Browser
      let context: BrowserContext
      beforeAll(async () => {
        // Chromium refuses to run as root inside its own sandbox.
        const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
        browser = await chromium.launch({ executablePath: executablePath ?? '', args })
        if (kind === 'postgres') cluster = await startPostgresCluster()
      })
      afterAll(async () => {
        await browser?.close()
        await cluster?.stop()
      })
      beforeEach(async () => {
        folder = mkdtempSync(join(tmpdir(), 'ctl-headless-'))
        if (cluster !== undefined) database = await cluster.createDatabase()
        port = await freePort()
        server = await start()
        context = await browser.newContext()
      })
      afterEach(async () => {
        await context?.close()
        await server?.end('SIGTERM')
        rmSync(folder, { recursive: true, force: true })
      })

      const start = () => {
        const store = cluster === undefined ? [] : ['--database-url', database]
        return startCtl({ listen: `127.0.0.1:${port}`, args: ['--data-dir', join(folder, 'data'), ...store] })
      }
      const env = () => ({ CTL_CONFIG_DIR: join(folder, 'config'), CI: '1' })

      async function login(): Promise<Login> {
        const child = spawn(process.execPath, [CTL, 'login', '--url', server.url, '--no-browser'], {
          stdio: ['ignore', 'ignore', 'pipe'],
          env: { ...process.env, ...env() },
        })
        const ended = once(child, 'close').then(([code]) => code as number | null)
        for await (const line of createInterface({ input: child.stderr })) {
          const address = /http:\S+user_code=[A-Z-]+/.exec(line)?.[0]
          if (address === undefined) continue
          child.stderr.resume()
          return { address, ended }
        }
        throw new Error(`ctl login ended with ${String(await ended)} before it showed a code`)
      }

      /** Signs the administrator in, with a password for one time at first. */
      async function signIn(page: Page): Promise<void> {
        const password = readFileSync(join(folder, 'data/initial-password'), 'utf8').trim()
        await page.getByLabel('Login').fill('admin')
        await page.getByLabel('Password').fill(password)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
        await page.getByLabel('New password, once more').fill(PASSWORD)
        await page.getByRole('button', { name: 'Set the password' }).click()
        await page.getByRole('button', { name: 'Not now' }).click()
      }

      /** Asked with the cookies of the browser. */
      const whoAmI = async (): Promise<unknown> => (await context.request.get(`${server.url}/v1/auth/whoami`)).json()

      it('is approved in a browser elsewhere, and then acts as whoever approved it', async () => {
        const { address, ended } = await login()
        const page = await context.newPage()
        await page.goto(address)
        await signIn(page)
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.getByRole('heading', { name: /approved/i }).waitFor()
        expect(await ended).toBe(0)
        const { exitCode, stdout } = await runCtl(['whoami', '-o', 'json'], env())
        expect(exitCode).toBe(0)
        const { subject } = JSON.parse(stdout) as { subject: string }
        expect(subject).toMatch(/^user:/)
        expect(await whoAmI()).toMatchObject({ subject, kind: 'user', credential: { type: 'session' } })
        expect((await runCtl(['authz', 'check', subject, 'manage', 'platform:main'], env())).exitCode).toBe(0)
      })

      it('goes on after the server was killed, and so does the session that approves it', async () => {
        const first = await login()
        const page = await context.newPage()
        await page.goto(first.address)
        await signIn(page)
        await page.getByRole('button', { name: 'Approve' }).waitFor()
        await server.end('SIGKILL')
        server = await start()
        await page.goto(first.address)
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.getByRole('heading', { name: /approved/i }).waitFor()
        expect(await first.ended).toBe(0)
        expect((await runCtl(['whoami'], env())).exitCode).toBe(0)
      })

      it('is refused where the person refuses it, and keeps nothing', async () => {
        const { address, ended } = await login()
        const page = await context.newPage()
        await page.goto(address)
        await signIn(page)
        await page.getByRole('button', { name: 'Refuse' }).click()
        await page.getByRole('heading', { name: /refused/i }).waitFor()
        expect(await ended).toBe(4)
        expect((await runCtl(['whoami', '--url', server.url], env())).exitCode).toBe(4)
      })
    })
  },
)
