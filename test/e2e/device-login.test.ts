import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const executablePath = requirement('chromium')
const NEW_PASSWORD = 'four otters at dawn'

/** What CI does: a server, `ctl login`, and a browser that nobody sits in front of. */
describe.skipIf(executablePath === undefined)('ctl login against a server with accounts of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-device-login-'))
  const data = join(folder, 'data')
  let server: CtlProcess
  let browser: Browser

  beforeAll(async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    // Chromium refuses to run as root inside its own sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  const environment = () => ({
    CTL_CONFIG_DIR: join(folder, 'config'),
    CTL_URL: server.url,
    CTL_TOKEN: '',
    CTL_TOKEN_STORE: 'file',
  })

  /** Starts a login; resolves with the whole address once it is shown. */
  async function login() {
    const child = spawn(process.execPath, [CTL, 'login', '--no-browser'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment() },
    })
    const exited = once(child, 'exit')
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (said += chunk))
    await expect.poll(() => said, { timeout: 30_000 }).toContain('Waiting for you to approve')
    const address = /or open (\S+)/.exec(said)?.[1] ?? ''
    return { child, address, ended: () => exited.then(([code]) => ({ code: Number(code), said })) }
  }

  it('makes whoever approved it in the browser the caller of the command line', async () => {
    const { address, ended } = await login()
    const page = await browser.newPage()
    await page.goto(address)
    await page.getByLabel('Login', { exact: true }).fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(readFileSync(join(data, 'initial-password'), 'utf8').trim())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await page.getByLabel('New password, once more').fill(NEW_PASSWORD)
    await page.getByRole('button', { name: 'Set the password' }).click()
    const skipping = page.getByRole('button', { name: 'Not now' })
    const asking = page.getByRole('heading', { name: 'Sign this device in?' })
    await skipping.or(asking).first().waitFor()
    if (await skipping.isVisible()) await skipping.click()
    await asking.waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    const { code, said } = await ended()
    expect(said).toContain(`Signed in to ${server.url} as`)
    expect(code).toBe(0)

    const mine = await runCtl(['whoami', '-o', 'json'], environment())
    const there = await page.goto(`${server.url}/v1/auth/whoami`)
    const [subject, subjectThere] = [JSON.parse(mine.stdout).subject, JSON.parse((await there?.text()) ?? '').subject]
    expect(subject).toMatch(/^user:/)
    expect(subject).toBe(subjectThere)
    expect(statSync(join(folder, 'config', 'credentials.json')).mode & 0o777).toBe(0o600)
    await page.close()
  })

  it('keeps nothing when it is given up', async () => {
    const before = readFileSync(join(folder, 'config', 'credentials.json'), 'utf8')
    const { child, ended } = await login()
    child.kill('SIGINT')
    const { code, said } = await ended()
    expect([code, said]).toEqual([130, expect.stringContaining('nothing was kept')])
    expect(readFileSync(join(folder, 'config', 'credentials.json'), 'utf8')).toBe(before)
  })
})
