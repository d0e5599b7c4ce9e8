import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeLeaf } from '../../src/server/adapters/own-authority/certificates.ts'
import { readAuthority } from '../../src/server/adapters/own-authority/authority-files.ts'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

const START_DEADLINE_MS = 120_000
vi.setConfig({ testTimeout: START_DEADLINE_MS })

let folder: string
let server: CtlProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-self-signed-'))
})
afterEach(async () => {
  await server?.end('SIGTERM')
  server = undefined
  rmSync(folder, { recursive: true, force: true })
})

const dataFile = (name: string): string => join(folder, 'data', name)
const env = (): Record<string, string> => ({ CTL_CONFIG_DIR: join(folder, 'config') })
const ctl = (...args: string[]): ReturnType<typeof runCtl> => runCtl(args, env())

async function start(listen = '127.0.0.1:0'): Promise<{ url: string; sha256: string; pid: number }> {
  server = await startCtl({ args: ['--tls-self-signed', '--data-dir', join(folder, 'data')], listen })
  const { ca_sha256: sha256 } = JSON.parse(server.stdout()) as { ca_sha256: string }
  return { url: server.url, sha256, pid: server.pid }
}

function login(url: string, sha256: string): ReturnType<typeof runCtl> {
  return ctl('login', '--url', url, '--ca-sha256', sha256, '--token-file', dataFile('bootstrap-token'))
}

async function shownSerial(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const serial = socket.getPeerX509Certificate()?.serialNumber ?? ''
  socket.destroy()
  return serial
}

describe('ctl serve --tls-self-signed', () => {
  test('prints the digest with which ctl trusts it, for calls, for threads and for event streams', async () => {
    const { url, sha256 } = await start()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(sha256).toBe(
      new X509Certificate(readFileSync(dataFile('tls/ca.pem'))).fingerprint256.replaceAll(':', '').toLowerCase(),
    )
    expect(server?.stderr()).toContain(
      `Clients trust it with --ca-sha256 ${sha256}; the certificate is in ${dataFile('tls/ca.pem')}.\n`,
    )
    const signedIn = await login(url, sha256)
    expect(signedIn.stderr).toContain(`The context trusts only the authority ${sha256}.`)
    expect(signedIn.exitCode).toBe(0)
    expect((await ctl('whoami')).exitCode).toBe(0)
    // The fleet holds event streams and pulls states in a thread of its own, all over TLS.
    const fleet = await ctl('agent-sim', '--nodes', '2', '--duration', '3s', '--fail-on', 'errors>0,refusals>0')
    expect([fleet.stdout, fleet.exitCode]).toEqual([expect.stringMatching(/\bstate_pull\b/), 0])
    expect(fleet.stdout).toMatch(/\bstream(?:_|s|\b)/)
  })

  test('with another digest nothing is sent, stored or asked', async () => {
    const { url, sha256 } = await start()
    const wrong = 'ab'.repeat(32)
    const refused = await login(url, wrong)
    expect(refused.stderr).toContain(
      `error: ${url} could not be asked: it shows a certificate authority with the SHA-256 ${sha256}, not ${wrong}; nothing was sent to it\nCompare `,
    )
    expect(refused.exitCode).toBe(8)
    const added = await ctl('contexts', 'add', 'box', '--url', url, '--ca-sha256', wrong)
    expect([added.exitCode, existsSync(join(folder, 'config'))]).toEqual([8, false])
  })

  test('without a digest ctl names the flags', async () => {
    const { url } = await start()
    const { exitCode, stderr } = await ctl('login', '--url', url, '--token-file', dataFile('bootstrap-token'))
    expect(stderr).toMatch(
      /Trust its certificate authority with --ca-file FILE, or by the digest that the server printed: .*ctl login --ca-sha256 HEX\.\n/,
    )
    expect(exitCode).toBe(8)
  })

  test('a restart keeps the authority, so that contexts go on', async () => {
    const first = await start()
    const port = new URL(first.url).port
    expect((await ctl('contexts', 'add', 'box', '--url', first.url, '--ca-sha256', first.sha256)).exitCode).toBe(0)
    await server?.end('SIGTERM')
    server = undefined
    const second = await start(`127.0.0.1:${port}`)
    expect(second.sha256).toBe(first.sha256)
    const { stderr, exitCode } = await ctl('whoami', '--token-file', dataFile('bootstrap-token'))
    expect([stderr, exitCode]).toEqual(['', 0])
  })

  test('a certificate that is over or that lacks a name is replaced by SIGHUP and by the next start', async () => {
    const { url, sha256 } = await start()
    const authority = readAuthority(dataFile('tls/authority.pem'))
    if (authority === undefined) throw new Error('there is no authority')
    const before = await shownSerial(url)
    await server?.end('SIGTERM')
    const [nowMs, endMsMax] = [Date.now() - 200 * 86_400_000, Date.now() + 86_400_000]
    const over = await makeLeaf({ authority, names: ['127.0.0.1', hostname(), 'localhost'], nowMs, endMsMax })
    writeFileSync(dataFile('tls/server.pem'), over.key + over.cert)
    const again = await start()
    expect(again.sha256).toBe(sha256)
    const renewed = await shownSerial(again.url)
    expect([before, new X509Certificate(over.cert).serialNumber]).not.toContain(renewed)
    expect((await login(again.url, sha256)).exitCode).toBe(0)
    process.kill(again.pid, 'SIGHUP')
    await vi.waitFor(() => expect(server?.stderr()).toContain('certificate and key were reloaded'), 10_000)
    expect(await shownSerial(again.url)).toBe(renewed)
  })

  test('--check refuses a damaged authority and makes nothing', async () => {
    const args = ['serve', '--check', '--tls-self-signed', '--data-dir', join(folder, 'data')]
    expect((await runCtl(args)).stderr).toBe('The configuration is valid.\n')
    expect(existsSync(join(folder, 'data'))).toBe(false)
    await start()
    writeFileSync(dataFile('tls/authority.pem'), 'damaged')
    const { exitCode, stderr } = await runCtl(args)
    expect(stderr).toContain(
      `ctl serve: The file ${dataFile('tls/authority.pem')} must hold the key and the certificate`,
    )
    expect(exitCode).toBe(1)
  })
})
