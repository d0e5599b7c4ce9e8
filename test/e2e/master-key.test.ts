import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MasterKeySource } from '../../src/server/ports/master-key-source.ts'
import { openRing, proveMasterKey } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createKeyring } from '../../src/server/adapters/keyring/ring.ts'
import { rotateInPlace } from '../../src/server/adapters/keyring/rotate-master-key.ts'
import { runCtl, startCtl, type CtlResult } from '../support/server/ctl-process.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { depth } from '../support/run/depth.ts'
import { POSTGRES, useDatastore } from '../support/datastores/stores.ts'
import { startReceiver, verified } from '../support/webhooks/receiver.ts'

const CLOCK = { now: Date.now }
const KILL_AT = new URL('../support/datastores/kill-at.mjs', import.meta.url).href
/** A rotation in place takes nine: remove, create, write, sync, link, remove, sync, rename, sync. */
const STEPS_MAX = 20
const STEPS_MIN = 9
/** What lies on the disk before a step is what lay there after the one before it; what the datastore has may be newer. */
const KILLED = depth<readonly ('before' | 'after')[]>({ ci: ['before'], deep: ['before', 'after'] })

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-master-key-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

const keyPath = (): string => join(folder, 'master.key')
const idIn = ({ stderr }: CtlResult): string => /mk-[0-9a-f]{12}/.exec(stderr)?.[0] ?? ''

/** A key in base64 must never be said. */
function expectNoSecret({ stdout, stderr }: CtlResult): void {
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/[A-Za-z0-9+/]{43}=/)
}

describe.skipIf(POSTGRES.missing)('ctl admin master-key rotate on PostgreSQL', () => {
  const inUse = useDatastore(POSTGRES, { isDurable: true })
  let own: MasterKeySource & { readonly path: string }
  let proof: Buffer

  beforeEach(async () => {
    await emptyTables(inUse.current())
    own = { kind: 'own', path: keyPath() }
    proof = await macUnder(own)
  })

  const flags = (): readonly string[] => ['--data-dir', folder, '--database-url', inUse.cluster().url]
  const rotate = (more: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<CtlResult> =>
    runCtl(['admin', 'master-key', 'rotate', ...flags(), ...more], env)

  /** What a server that starts now computes: the same only with the same ring. */
  async function macUnder(source: MasterKeySource, warned: string[] = []): Promise<Buffer> {
    const datastore = inUse.current()
    const master = await proveMasterKey(datastore.pool('interactive'), source, (said) => void warned.push(said))
    return createKeyring(await openRing(datastore, master, CLOCK)).mac('fingerprint', 'x').mac
  }

  test('puts a new key into the place of the old one and keeps the ring', async () => {
    const before = readFileSync(keyPath(), 'utf8')
    const result = await rotate()
    expectNoSecret(result)
    expect([result.exitCode, result.stderr]).toEqual([
      0,
      `The keyring is now wrapped under master key ${idIn(result)}, in ${keyPath()}; give that file to every server of the database that starts again.\n`,
    ])
    expect(readFileSync(keyPath(), 'utf8')).not.toBe(before)
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['master.key'])
    expect(await macUnder(own)).toEqual(proof)
  })

  test('the old key opens nothing any more', async () => {
    const old: MasterKeySource = { kind: 'given', key: Buffer.from(readFileSync(keyPath(), 'utf8'), 'base64') }
    const result = await rotate()
    await expect(macUnder(old)).rejects.toThrow(`are sealed under master key ${idIn(result)}, not under mk-`)
  })

  test('goes to another file that is named, made there, and says so again when asked again', async () => {
    const path = join(folder, 'new.key')
    const first = await rotate(['--new-key-file', path])
    expectNoSecret(first)
    expect(first.stderr).toBe(
      `The keyring is now wrapped under master key ${idIn(first)}, in ${path}; start every server with that one (--master-key-file, or SERVICE_MASTER_KEY).\n`,
    )
    expect(await macUnder({ kind: 'file', path })).toEqual(proof)
    const again = await rotate([`--new-key-file=${path}`])
    expect([again.exitCode, again.stderr]).toEqual([
      0,
      `The keyring is wrapped under master key ${idIn(first)} of ${path} already.\n`,
    ])
  })

  test('takes the key that lies in the named file', async () => {
    const path = join(folder, 'brought.key')
    writeFileSync(path, `${Buffer.alloc(32, 9).toString('base64')}\n`)
    expect((await rotate(['--new-key-file', path])).exitCode).toBe(0)
    expect(await macUnder({ kind: 'given', key: Buffer.alloc(32, 9) })).toEqual(proof)
  })

  test('needs a file where the key comes from the environment', async () => {
    const text = readFileSync(keyPath(), 'utf8').trim()
    const result = await rotate([], { SERVICE_MASTER_KEY: text })
    expect([result.exitCode, result.stderr]).toEqual([
      2,
      'ctl admin master-key rotate: The master key comes from SERVICE_MASTER_KEY, which this command cannot change; name the file for the new one with --new-key-file.\n',
    ])
    const path = join(folder, 'new.key')
    expect((await rotate(['--new-key-file', path], { SERVICE_MASTER_KEY: text })).exitCode).toBe(0)
    expect(await macUnder({ kind: 'file', path })).toEqual(proof)
  })

  test('a running server goes on, and one that starts with the new key knows the same tokens', async () => {
    const tokenFile = join(folder, 'token')
    const server = await startCtl({ args: [...flags(), '--bootstrap-token-file', tokenFile] })
    try {
      const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`
      const whoami = async (url: string) =>
        (await fetch(`${url}/v1/auth/whoami`, { headers: { authorization } })).status
      expect((await rotate()).exitCode).toBe(0)
      expect(await whoami(server.url)).toBe(200)
      const other = await startCtl({ args: flags() })
      expect(await whoami(other.url)).toBe(200)
      expect(await other.end('SIGTERM')).toBe(0)
    } finally {
      await server.end('SIGTERM')
    }
  })

  test('changes nothing under a wrong key, and says which one is right', async () => {
    const result = await rotate([], { SERVICE_MASTER_KEY_FILE: wrongKey() })
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(/are sealed under master key mk-[0-9a-f]{12}, not under mk-[0-9a-f]{12}, which is/)
    expect(await macUnder(own)).toEqual(proof)
  })

  function wrongKey(): string {
    const path = join(folder, 'wrong.key')
    writeFileSync(path, Buffer.alloc(32, 1).toString('base64'))
    return path
  }

  test('killed before or after any of its steps, it leaves a keyring that opens, and a second call finishes', async () => {
    let killed = 0
    const found = { old: 0, beside: 0, new: 0 }
    for (let step = 1; step <= STEPS_MAX; step += 1) {
      for (const when of KILLED) {
        const before = readFileSync(keyPath(), 'utf8')
        const NODE_OPTIONS = `--import=${KILL_AT}?path=master.key&step=${step}&when=${when}`
        const { exitCode } = await rotate([], { NODE_OPTIONS })
        if (exitCode === 0) {
          expect(killed).toBeGreaterThanOrEqual(STEPS_MIN * KILLED.length)
          expect(found).toEqual({ old: expect.any(Number), beside: 1, new: expect.any(Number) })
          expect(Math.min(found.old, found.new)).toBeGreaterThan(0)
          return
        }
        expect(exitCode).toBeNull()
        killed += 1
        const warned: string[] = []
        expect(await macUnder(own, warned), `killed ${when} step ${step}`).toEqual(proof)
        const state = warned.length > 0 ? 'beside' : readFileSync(keyPath(), 'utf8') === before ? 'old' : 'new'
        found[state] += 1
        const second = await rotate()
        expect(second.exitCode).toBe(0)
        expect(second.stderr).toMatch(state === 'beside' ? /^Finished the rotation/ : /^The keyring is now wrapped/)
        expect(readdirSync(folder)).toEqual(['master.key'])
        expect(await macUnder(own)).toEqual(proof)
      }
    }
    throw new Error(`a rotation takes more than ${STEPS_MAX} steps`)
  }, 300_000)

  test('rotations at once end with one key in the file, and it fits', async () => {
    await Promise.all([1, 2, 3, 4].map(() => rotateInPlace(inUse.current(), own)))
    expect(readdirSync(folder)).toEqual(['master.key'])
    expect(await macUnder(own)).toEqual(proof)
  })
})

describe('ctl admin master-key rotate on the embedded datastore', () => {
  let data: string
  let token: string
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'ctl-master-key-embedded-'))
    const server = await startCtl({ args: ['--data-dir', data] })
    token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    await server.end('SIGTERM')
  }, 180_000)
  afterAll(() => rmSync(data, { recursive: true, force: true }))

  const rotate = (env: Readonly<Record<string, string>> = {}): Promise<CtlResult> =>
    runCtl(['admin', 'master-key', 'rotate', '--data-dir', data], env)

  /** Starts the server, asks it who the token is, and resolves with what it said. */
  async function serves(): Promise<{ readonly status: number; readonly said: string }> {
    const server = await startCtl({ args: ['--data-dir', data] })
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await fetch(`${server.url}/v1/auth/whoami`, { headers })
    await server.end('SIGTERM')
    return { status, said: server.stderr() }
  }

  test('keeps every credential', async () => {
    const result = await rotate()
    expectNoSecret(result)
    expect(result.stderr).toBe(
      `The keyring is now wrapped under master key ${idIn(result)}, in ${join(data, 'master.key')}.\n`,
    )
    expect((await serves()).status).toBe(200)
  }, 180_000)

  test('killed between the wrapping and the renaming, the next start takes the key beside it and says so', async () => {
    const query = 'path=master.key&op=renameSync&step=1&when=before'
    const killed = await rotate({ NODE_OPTIONS: `--import=${KILL_AT}?${query}` })
    expect(killed.exitCode).toBeNull()
    const { status, said } = await serves()
    expect(status).toBe(200)
    expect(said).toContain('A rotation of the master key was cut off: the keyring is wrapped under mk-')
    expect((await rotate()).stderr).toMatch(/^Finished the rotation that was cut off/)
    expect((await serves()).said).not.toContain('cut off')
  }, 180_000)

  test('keeps the secrets of webhooks: what is sent afterwards is verified by the secret that was shown before', async () => {
    const receiver = await startReceiver()
    const args = ['--data-dir', data, '--webhook-allow-hosts', '127.0.0.1']
    const ask = async (url: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
      const answered = await fetch(`${url}${path}`, init)
      expect(answered.ok, `${path}: ${answered.status}`).toBe(true)
      return (await answered.json()) as Readonly<Record<string, unknown>>
    }
    const before = await startCtl({ args })
    const { domain_id: domainId } = await ask(before.url, '/v1/auth/whoami')
    const webhook = await ask(before.url, `/v1/domains/${String(domainId)}/webhooks`, {
      url: `${receiver.url}/hook`,
      events: ['approval.requested'],
    })
    await before.end('SIGTERM')
    expect((await rotate()).exitCode).toBe(0)
    const after = await startCtl({ args })
    try {
      await ask(after.url, `/v1/webhooks/${String(webhook['id'])}/test`, {})
      const [received] = await receiver.gotten(1)
      if (received === undefined) throw new Error('nothing came')
      expect(verified(String(webhook['secret']), received)).toHaveProperty('type')
    } finally {
      await after.end('SIGTERM')
      await receiver.stop()
    }
  }, 120_000)

  test('makes no datastore where there is none', async () => {
    const result = await runCtl(['admin', 'master-key', 'rotate', '--data-dir', join(folder, 'nowhere')])
    expect([result.exitCode, result.stderr]).toEqual([
      1,
      `ctl admin master-key rotate: There is no datastore in ${join(folder, 'nowhere')}; name the right one with --data-dir.\n`,
    ])
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })
})
