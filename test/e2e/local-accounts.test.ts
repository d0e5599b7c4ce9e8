import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { plainBrowser, relyingParty } from '../support/sign-in/relying-party.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const NEW_PASSWORD = 'four otters at dawn'

describe('ctl serve with local accounts', () => {
  let folder: string
  let data: string
  let server: CtlProcess | undefined
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-local-accounts-'))
    data = join(folder, 'data')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  afterEach(async () => {
    await server?.end('SIGTERM')
  })

  const running = (): CtlProcess => {
    if (server === undefined) throw new Error('no server runs')
    return server
  }
  const imports = join(tmpdir(), `ctl-imports-${process.pid}`)
  const start = async (...more: string[]) => {
    rmSync(imports, { force: true })
    const preload = new URL('../support/run/import-log.mjs', import.meta.url).href
    const env = { NODE_OPTIONS: `--import ${preload}`, CTL_TEST_IMPORT_LOG: imports }
    server = await startCtl({ args: ['--data-dir', data, ...more], env })
  }
  const isLoaded = (name: string) => readFileSync(imports, 'utf8').includes(`/node_modules/${name}/`)
  const usersStatus = async () => {
    const token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    const answer = await fetch(`${running().url}/v1/admin/users`, { headers: { authorization: `Bearer ${token}` } })
    return answer.status
  }

  it('hands the administrator a one-time password in a file, and takes it away once it was changed', async () => {
    await start()
    const path = join(data, 'initial-password')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(running().stderr()).toContain(path)
    const password = readFileSync(path, 'utf8').trim()
    expect(running().stderr()).not.toContain(password)
    expect(isLoaded('oidc-provider')).toBe(false)

    const party = await relyingParty(running().url)
    expect(isLoaded('oidc-provider')).toBe(true)
    const begun = await party.begin()
    const browser = plainBrowser()
    let page = await browser.go(begun.url, `${running().url}/idp/`)
    page = await browser.send(page, 'password', { login: 'admin', password })
    page = await browser.send(page, 'new-password', { password: NEW_PASSWORD, again: NEW_PASSWORD })
    page = await browser.send(page, 'skip')
    expect(await begun.finish(page.url)).toMatchObject({ preferred_username: 'admin', domain: 'default', acr: 'pwd' })
    await expect.poll(() => existsSync(path)).toBe(false)
    expect(running().stdout().trimEnd().split('\n')).toHaveLength(1)
    expect(running().stderr()).not.toContain('oidc-provider')
  })

  it('asks for the password again after a sign-out, though the session at the provider would go on', async () => {
    await start()
    const { url } = running()
    const browser = plainBrowser()
    const signIn = async () => {
      const { status, text } = await browser.post(`${url}/v1/auth/sign-in`, { domain: 'default' }, url)
      expect(status, text).toBe(200)
      const { authorization_url: next } = JSON.parse(text) as { authorization_url: string }
      return browser.go(next, url)
    }
    const page = await signIn()
    expect(page.text).toContain('name="password"')
    await browser.send(page, 'password', { login: 'admin', password: NEW_PASSWORD })
    const sessionCookie = () => [...browser.cookies.keys()].find((key) => key.startsWith('service_session '))
    expect((await signIn()).text).not.toContain('name="password"')
    expect(sessionCookie()).toBeDefined()
    // A sign-in and a sign-out of the same second cannot be told apart.
    await new Promise((resolve) => void setTimeout(resolve, 1_000))
    const providersOwn = [...browser.cookies].filter(([key]) => key.startsWith('ctl_idp_session'))
    await browser.post(`${url}/v1/sign-out`, new URLSearchParams(), url)
    expect(sessionCookie()).toBeUndefined()
    // Even with the provider's cookies, which the sign-out has cleared.
    for (const [key, cookie] of providersOwn) browser.cookies.set(key, cookie)
    expect((await signIn()).text).toContain('name="password"')
  })

  it('loads nothing of the provider where it is off, and has no accounts', async () => {
    await start('--no-bundled-provider')
    expect((await fetch(`${running().url}/idp/.well-known/openid-configuration`)).status).toBe(404)
    expect(await usersStatus()).toBe(501)
    for (const name of ['oidc-provider', '@simplewebauthn/server', 'otpauth', 'uqr', 'koa'])
      expect(isLoaded(name), name).toBe(false)
  })

  it('lets an administrator back in by a command beside the stopped server', async () => {
    const line = ['admin', 'users', 'add', 'root2', '--platform-admin', '--data-dir', data]
    const added = await runCtl(line, { CTL_CONFIG_DIR: folder })
    expect([added.exitCode, added.stderr]).toEqual([
      0,
      'Added root2, who administers the platform. The one-time password is shown this once: start the server, open its address and sign in.\n',
    ])
    const password = added.stdout.trim()
    expect(password).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/)
    const again = await runCtl(line, { CTL_CONFIG_DIR: folder })
    expect(again.exitCode).toBe(1)
    expect(again.stderr).toContain('An account with this login exists')

    await start()
    const party = await relyingParty(running().url)
    const browser = plainBrowser()
    const page = await browser.go((await party.begin()).url, `${running().url}/idp/`)
    const next = await browser.send(page, 'password', { login: 'root2', password })
    expect(next.text).toContain('Choose a new password')
    expect(await usersStatus()).toBe(200)
  })
})
