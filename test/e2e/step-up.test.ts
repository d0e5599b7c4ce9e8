import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { FLOW_STORES } from '../support/datastores/flow-stores.ts'
import { freePort, startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, enrol } from '../support/server/replicas.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const executablePath = requirement('chromium')
const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const PASSWORD = 'eleven herons at the weir'
/** Set to a folder to look at the pages. */
const shots = process.env['CTL_TEST_SCREENSHOTS']

/** A command that has shown a code. */
interface Waiting {
  readonly address: string
  readonly ended: Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }>
}

// Most of the time goes into waiting until the command asks again, which it does on both stores at once.
describe.skipIf(executablePath === undefined).concurrent.each(FLOW_STORES)(
  'acknowledging a violation that needs a second factor, on the %s store',
  (kind) => {
    describe.skipIf(kind === 'postgres' && requirement('postgresql') === undefined).sequential('', () => {
      let folder: string
      let cluster: PostgresCluster | undefined
      let server: CtlProcess
      let url: string
      let browser: Browser
      let context: BrowserContext
      let page: Page
      let violations: readonly string[]

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
        folder = mkdtempSync(join(tmpdir(), 'ctl-step-up-'))
        const storage = cluster === undefined ? [] : ['--database-url', await cluster.createDatabase()]
        const port = await freePort()
        // Browsers keep passkeys for a name.
        url = `http://localhost:${port}`
        const args = ['--data-dir', join(folder, 'data'), '--base-url', url, ...storage]
        server = await startCtl({ listen: `127.0.0.1:${port}`, args })
        violations = await reported(2)
        context = await browser.newContext()
        page = await context.newPage()
        const devtools = await context.newCDPSession(page)
        await devtools.send('WebAuthn.enable')
        await devtools.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        })
      })
      afterEach(async () => {
        await context?.close()
        await server?.end('SIGTERM')
        rmSync(folder, { recursive: true, force: true })
      })

      const asOperator = () => readFileSync(join(folder, 'data/bootstrap-token'), 'utf8').trim()
      const env = () => ({ CTL_CONFIG_DIR: join(folder, 'config'), CI: '1' })

      /** Ids of new violations, in a Domain whose acknowledgements need two factors. */
      async function reported(count: number): Promise<readonly string[]> {
        const token = asOperator()
        const { body: me } = await callServer(server, { token, path: '/v1/auth/whoami' })
        const domainId = String(me['domain_id'])
        const policy = { step_up: { integrity_acknowledge: { acr_values: ['mfa'], max_age: 900 } } }
        await callServer(server, { token, method: 'PATCH', path: `/v1/domains/${domainId}`, body: policy })
        const [node] = await enrol(server, { token, domainId, nodes: 1 })
        if (node === undefined) throw new Error('no node was enrolled')
        const found = Array.from({ length: count }, (_, at) => ({
          kind: 'binary',
          artifact: `/usr/bin/agent-${at}`,
          observed_checksum: 'ab'.repeat(32),
          detected_at: new Date().toISOString(),
        }))
        const path = `/v1/nodes/${node.id}/integrity-violations`
        await callServer(server, { token: node.nsk, method: 'POST', path, body: { violations: found } })
        const { body: list } = await callServer(server, { token, path: '/v1/integrity-violations' })
        return (list['items'] as { id: string }[]).map(({ id }) => id)
      }

      const stateOf = async (id: string | undefined) =>
        (await callServer(server, { token: asOperator(), path: `/v1/integrity-violations/${String(id)}` })).body

      /** Signs the administrator in with the password alone. */
      async function signInByPassword(): Promise<void> {
        await page.getByLabel('Login').fill('admin')
        await page.getByLabel('Password').fill(readFileSync(join(folder, 'data/initial-password'), 'utf8').trim())
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
        await page.getByLabel('New password, once more').fill(PASSWORD)
        await page.getByRole('button', { name: 'Set the password' }).click()
        await page.getByRole('button', { name: 'Not now' }).click()
      }

      /** The provider asks for the password once more, and for a passkey. */
      async function signInWithPasskey(): Promise<void> {
        await page.getByLabel('Login').fill('admin')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByRole('button', { name: 'Set up a passkey' }).click()
        await page.getByRole('button', { name: 'I have kept them' }).click()
      }

      /** A request of a script on the start page, with the session of the browser. */
      const fromPage = (path: string, body: object) =>
        page.evaluate(
          async ([to, sent]) => {
            const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) }
            const answer = await fetch(to, init)
            const challenge = answer.headers.get('www-authenticate')
            return { status: answer.status, challenge, body: (await answer.json()) as Record<string, unknown> }
          },
          [path, body] as const,
        )

      async function shoot(name: string): Promise<void> {
        if (shots !== undefined) await page.screenshot({ path: `${shots}/step-up-${name}.png`, fullPage: true })
      }

      /** Starts a command on a box without a browser, and waits for its code. */
      async function waitFor(...line: readonly string[]): Promise<Waiting> {
        const child = spawn(process.execPath, [CTL, ...line, '--url', url, '--no-browser'], {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, ...env() },
        })
        let stderr = ''
        const stdout = text(child.stdout)
        const lines = createInterface({ input: child.stderr })
        const ended = once(child, 'close').then(async ([exitCode]) => ({
          exitCode: exitCode as number | null,
          stdout: await stdout,
          stderr,
        }))
        const address = await new Promise<string>((resolve, reject) => {
          lines.on('line', (one) => {
            stderr += `${one}\n`
            const found = /http:\S+user_code=\S+/.exec(one)?.[0]
            if (found !== undefined) resolve(found)
          })
          void ended.then(({ exitCode }) => reject(new Error(`ended with ${String(exitCode)} before: ${stderr}`)))
        })
        return { address, ended }
      }

      it('is refused a person who signed in with a password, and allowed once they used a passkey', async () => {
        await page.goto(`${url}/`)
        await page
          .getByRole('button', { name: /^Sign in/ })
          .first()
          .click()
        await signInByPassword()
        await page.waitForURL(`${url}/`)
        const acknowledge = `/v1/integrity-violations/${String(violations[0])}/acknowledge`
        const refused = await fromPage(acknowledge, { reason: 'seen' })
        expect(refused).toMatchObject({
          status: 401,
          challenge: 'Bearer error="insufficient_user_authentication", acr_values="mfa", max_age="900"',
          body: { code: 'step_up_required', acr_values: ['mfa'], max_age: 900 },
        })
        expect(await stateOf(violations[0])).toMatchObject({ status: 'open' })

        const { acr_values: values, max_age } = refused.body as { acr_values: string[]; max_age: number }
        const asked = { domain: 'default', return_to: '/', acr_values: values.join(' '), max_age }
        const begun = await fromPage('/v1/auth/sign-in', asked)
        await page.goto(String(begun.body['authorization_url']))
        await signInWithPasskey()
        await page.waitForURL(`${url}/`)
        expect(await fromPage(acknowledge, { reason: 'seen' })).toMatchObject({
          status: 200,
          body: { status: 'acknowledged', acknowledge_reason: 'seen' },
        })
        expect(await stateOf(violations[0])).toMatchObject({
          status: 'acknowledged',
          acknowledged_by_subject: expect.stringMatching(/^user:/),
        })
        // With two factors a moment ago: nothing is asked again.
        expect((await fromPage(acknowledge, { reason: 'again' })).body).toMatchObject({ code: 'illegal_transition' })
      })

      it('is done from a box without a browser, whose command waits for the sign-in elsewhere', async () => {
        const login = await waitFor('login')
        await page.goto(login.address)
        await signInByPassword()
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.getByRole('heading', { name: /approved/i }).waitFor()
        expect((await login.ended).exitCode).toBe(0)
        const whoami = async () => JSON.parse((await runCtl(['whoami', '-o', 'json'], env())).stdout) as object
        const before = await whoami()
        expect(before).toMatchObject({ acr: 'pwd' })

        const acknowledging = await waitFor('violations', 'ack', ...violations, '--reason', 'seen', '-o', 'json')
        await page.goto(acknowledging.address)
        await page.getByText('This device asks for a sign-in with mfa, no older than 15 minutes.').waitFor()
        await shoot('challenged')
        await page.getByRole('link', { name: 'Sign in again' }).click()
        await signInWithPasskey()
        await page.getByText('a sign-in with mfa, no older than 15 minutes; yours is one').waitFor()
        await shoot('decision')
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.getByRole('heading', { name: /approved/i }).waitFor()

        const { exitCode, stdout, stderr } = await acknowledging.ended
        expect([exitCode, JSON.parse(stdout)], stderr).toMatchObject([
          0,
          violations.map((id) => ({ id, status: 'acknowledged' })),
        ])
        expect(stderr).toContain('This needs a sign-in with mfa, no older than 15m.')
        expect(await whoami()).toEqual(before)
        const { stdout: tokens } = await runCtl(['tokens', 'list', '-o', 'json'], env())
        const all = JSON.parse(tokens) as { name: string; revoked_at: string | null }[]
        expect(all.filter(({ name }) => name.startsWith('ctl violations ack'))).toEqual([
          expect.objectContaining({
            scopes: ['integrity:write', 'tokens:write'],
            revoked_at: expect.stringMatching(/^20/),
          }),
        ])
      })

      it('is not done by anyone who has nobody to sign in: one sentence, and nothing is changed', async () => {
        const token = { CTL_URL: url, CTL_TOKEN: asOperator(), ...env() }
        const { exitCode, stderr } = await runCtl(
          ['violations', 'ack', String(violations[0]), '--reason', 'seen'],
          token,
        )
        expect(exitCode).toBe(4)
        expect(stderr).toContain(
          'the server needs a sign-in with mfa, no older than 15m, and there is nobody to sign in',
        )
        expect(stderr).toContain('the token of a service identity, which cannot sign in: a person must do it.')
        expect(await stateOf(violations[0])).toMatchObject({ status: 'open' })
      })
    })
  },
)
