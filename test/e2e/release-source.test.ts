import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { selfSigned } from '../support/network/self-signed.ts'
import { SIGNERS } from '../support/releases/release-folder.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer } from '../support/server/replicas.ts'
import { createSigstoreWorld, type SigstoreWorld } from '../support/sigstore/make-bundle.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const BINARY = Buffer.from('an agent')
const CHECKSUM = createHash('sha256').update(BINARY).digest('hex')

describe.skipIf(requirement('openssl') === undefined)('A source of releases by https', () => {
  let folder: string
  let world: SigstoreWorld
  let source: Server
  let base: string
  let ctl: CtlProcess | undefined
  const files = new Map<string, Uint8Array>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-source-'))
    world = await createSigstoreWorld()
    writeFileSync(join(folder, 'root.json'), world.trustedRoot)
    const { key, cert } = selfSigned()
    writeFileSync(join(folder, 'cert.pem'), cert)
    source = createServer({ key, cert }, ({ url = '' }, response) => {
      const file = files.get(url)
      response.writeHead(file === undefined ? 404 : 200, { etag: '"1"' }).end(file)
    }).listen(0, '127.0.0.1')
    await once(source, 'listening')
    base = `https://127.0.0.1:${(source.address() as AddressInfo).port}/agent`
  })
  afterEach(() => ctl?.end('SIGTERM'))
  afterAll(() => {
    source.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function publish(serial: number): Promise<void> {
    const architecture = { architecture: 'x86_64', checksum: CHECKSUM, bundle: '1.0.0/x86_64.sigstore.json' }
    const index = Buffer.from(
      JSON.stringify({ serial, releases: [{ version: '1.0.0', architectures: [architecture] }] }),
    )
    files.set('/agent/index.json', index)
    files.set('/agent/index.json.sigstore.json', await world.attest({ binary: index, kind: 'message' }))
    files.set('/agent/1.0.0/x86_64.sigstore.json', await world.attest({ binary: BINARY }))
  }

  async function start(name: string, more: readonly string[]): Promise<() => Promise<unknown>> {
    const data = join(folder, name)
    const trust = ['--release-signers', SIGNERS, '--sigstore-trusted-root', join(folder, 'root.json')]
    const args = ['--data-dir', data, '--log-level', 'warn', ...trust, '--releases-source', base, ...more]
    const server = await startCtl({ args, env: { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') } })
    ctl = server
    const token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    return async () => {
      const { body } = await callServer(server, { token, method: 'GET', path: '/v1/artifacts/plexd' })
      return (body['items'] as readonly Readonly<Record<string, unknown>>[]).map(
        ({ version, verdict }) => `${String(version)} ${String(verdict)}`,
      )
    }
  }

  test('is read by the leader, where its host may be in a private network', async () => {
    await publish(1)
    const releases = await start('allowed', ['--releases-allow-hosts', '127.0.0.1'])
    await vi.waitFor(async () => expect(await releases()).toEqual(['1.0.0 verified']), { timeout: 30_000 })
    expect(ctl?.stderr()).not.toContain('"level":40')
  })

  test('is not asked where its host is private and not named, which is logged', async () => {
    await publish(1)
    const releases = await start('refused', [])
    await vi.waitFor(() => expect(ctl?.stderr()).toContain('--releases-allow-hosts does not name it'), {
      timeout: 30_000,
    })
    expect(await releases()).toEqual([])
  })
})
