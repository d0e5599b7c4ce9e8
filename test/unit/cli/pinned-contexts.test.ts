import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeAuthority, makeLeaf } from '../../../src/server/adapters/own-authority/certificates.ts'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'

const OTHER = 'ab'.repeat(32)

let home: CliHome
let server: Server
let url: string
let sha256: string
let cert: string
beforeAll(async () => {
  const authority = await makeAuthority(Date.now())
  cert = authority.cert
  sha256 = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  const endMsMax = Date.now() + 86_400_000
  const leaf = await makeLeaf({ authority, names: ['127.0.0.1'], nowMs: Date.now(), endMsMax })
  server = createServer({ cert: leaf.cert + cert, key: leaf.key }, (socket) => void socket.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())
beforeEach(() => {
  home = createCliHome()
})
afterEach(() => home.remove())

const folder = (): string => join(home.home, '.config/ctl')
const pem = (): string => join(folder(), 'authorities', `${sha256}.pem`)

function stored(name: string): unknown {
  const file = JSON.parse(readFileSync(join(folder(), 'config.json'), 'utf8')) as { contexts: Record<string, unknown> }
  return file.contexts[name]
}

describe('a context that trusts one authority', () => {
  it('has its certificate beside the context file, whatever the spelling of the digest', async () => {
    const spelling = (sha256.toUpperCase().match(/../g) ?? []).join(':')
    const added = await home.run(['contexts', 'add', 'box', '--url', url, '--ca-sha256', spelling])
    expect(added.exitCode).toBe(0)
    expect(readFileSync(pem(), 'utf8')).toBe(cert)
    expect(stored('box')).toEqual({ url, token_store: 'file', ca_file: pem(), ca_sha256: sha256 })
  })

  it('is not made when the server shows another authority', async () => {
    const { exitCode, stderr } = await home.run(['contexts', 'add', 'box', '--url', url, '--ca-sha256', OTHER])
    expect(stderr).toContain(`with the SHA-256 ${sha256}, not ${OTHER}; nothing was sent to it`)
    expect([exitCode, existsSync(folder())]).toEqual([8, false])
  })

  it('is changed by contexts use, in both directions', async () => {
    await home.run(['contexts', 'add', 'box', '--url', url, '--ca-file', '/my.pem'])
    expect((await home.run(['contexts', 'use', '--ca-sha256', sha256])).exitCode).toBe(0)
    expect(stored('box')).toMatchObject({ ca_file: pem(), ca_sha256: sha256 })
    expect((await home.run(['contexts', 'use', 'box', '--ca-sha256', OTHER])).exitCode).toBe(8)
    expect(stored('box')).toMatchObject({ ca_file: pem(), ca_sha256: sha256 })
    expect((await home.run(['contexts', 'use', 'box', '--ca-file', '/my.pem'])).exitCode).toBe(0)
    expect(stored('box')).toEqual({ url, token_store: 'file', ca_file: '/my.pem' })
  })

  it.each([
    [['--ca-sha256', 'ab'], '--ca-sha256 needs a SHA-256: 64 hex digits'],
    [['--ca-sha256', OTHER, '--ca-file', '/x'], '--ca-file and --ca-sha256 both name the authority to trust'],
    [['--ca-sha256', OTHER, '--url', 'http://127.0.0.1:1'], 'http://127.0.0.1:1 shows no certificate'],
  ])('is refused for %j', async (flags, reason) => {
    const at = flags.includes('--url') ? [] : ['--url', url]
    const { exitCode, stderr } = await home.run(['contexts', 'add', 'box', ...at, ...flags])
    expect(stderr).toContain(reason)
    expect([exitCode, existsSync(folder())]).toEqual([2, false])
  })
})

describe('the settings', () => {
  async function shown(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown[]> {
    const { stdout } = await home.run(['config', 'view', '--show-origin', '-o', 'json', ...argv], { env })
    const rows = JSON.parse(stdout) as { key: string; value: unknown; origin: string }[]
    return ['ca_file', 'ca_sha256'].map((name) => rows.find(({ key }) => key === name)?.value)
  }

  it('take the authority from a flag before the environment before the context of that server', async () => {
    await home.run(['contexts', 'add', 'box', '--url', url, '--ca-sha256', sha256])
    expect(await shown([])).toEqual([pem(), sha256])
    expect(await shown(['--url', 'https://other.example'])).toEqual([null, null])
    expect(await shown([], { CTL_CA_SHA256: OTHER })).toEqual([null, OTHER])
    expect(await shown([], { CTL_CA_FILE: '/env.pem' })).toEqual(['/env.pem', null])
    expect(await shown(['--ca-file', '/flag.pem'], { CTL_CA_SHA256: OTHER })).toEqual(['/flag.pem', null])
  })

  it.each([
    [{ CTL_CA_SHA256: OTHER, CTL_CA_FILE: '/x' }, 'CTL_CA_FILE and CTL_CA_SHA256 both name the authority to trust'],
    [{ CTL_CA_SHA256: 'x' }, 'CTL_CA_SHA256 needs a SHA-256: 64 hex digits'],
  ])('refuse %j', async (env, reason) => {
    const { exitCode, stderr } = await home.run(['config', 'view'], { env })
    expect(stderr).toContain(reason)
    expect(exitCode).toBe(2)
  })

  it('let CTL_CA_SHA256 decide before anything is sent', async () => {
    const env = { CTL_URL: url, CTL_CA_SHA256: OTHER, CTL_TOKEN: 'secret' }
    const { exitCode, stderr } = await home.run(['whoami'], { env })
    expect(stderr).toContain(`not ${OTHER}; nothing was sent to it`)
    expect(exitCode).toBe(8)
  })
})
