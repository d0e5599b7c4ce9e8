import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { textUntil } from '../support/network/stream-text.ts'
import { requirement } from '../support/run/requirements.mjs'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { callServer, enrol, heartbeatOf, type EnrolledNode } from '../support/server/replicas.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ctl-lost-server-'))
const backup = join(folder, 'one.ctlbackup')
const passphraseFile = join(folder, 'passphrase')
const withKey = ['--with-master-key', '--passphrase-file', passphraseFile]
let token: string
let node: EnrolledNode

/** A server with a node, which makes a backup and is then lost with its data directory. */
beforeAll(async () => {
  writeFileSync(passphraseFile, 'a passphrase of many words\n', { mode: 0o600 })
  const data = join(folder, 'lost')
  await served(['--data-dir', data], async (server) => {
    token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    const [joined] = await enrol(server, { token, domainId: await domainOf(server), nodes: 1 })
    if (joined === undefined) throw new Error('no node joined')
    node = joined
    expect((await callServer(server, heartbeatOf(node))).status).toBe(200)
    const said = await runCtl(['admin', 'backup', 'create', backup, '--data-dir', data, ...withKey])
    expect(said).toMatchObject({ exitCode: 0 })
  })
  rmSync(data, { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function served(args: readonly string[], work: (server: CtlProcess) => Promise<void>): Promise<void> {
  const server = await startCtl({ args })
  try {
    await work(server)
  } finally {
    await server.end('SIGKILL')
  }
}

async function domainOf(server: CtlProcess): Promise<string> {
  const { status, body } = await callServer(server, { token, path: '/v1/auth/whoami' })
  expect(status).toBe(200)
  return String(body['domain_id'])
}

const restoreArgs = (flags: readonly string[]): string[] => ['admin', 'backup', 'restore', backup, ...withKey, ...flags]
const restore = (flags: readonly string[]) => runCtl(restoreArgs(flags))

function beginRestore(flags: readonly string[]): ChildProcess {
  return spawn(process.execPath, [CTL, ...restoreArgs(flags)], { stdio: 'ignore' })
}

/** Its token works, its node is known and begins again, and the audit trail is whole. */
async function expectBack(server: CtlProcess): Promise<void> {
  const domainId = await domainOf(server)
  expect((await callServer(server, heartbeatOf(node))).status).toBe(200)
  const stream = await fetch(`${server.url}/v1/nodes/${node.id}/events`, {
    headers: { authorization: `Bearer ${node.nsk}`, 'last-event-id': '700' },
    signal: AbortSignal.timeout(60_000),
  })
  expect(await textUntil(stream, /^data: .*$/m)).toContain('"resync"')
  const { body } = await callServer(server, { token, path: `/v1/audit/verify?domain_id=${domainId}` })
  expect(body).toMatchObject({ verdict: 'intact' })
}

test('a lost server is brought back from its backup, also after a restore that was killed', async () => {
  const data = join(folder, 'found')
  const flags = ['--data-dir', data]
  const killed = beginRestore(flags)
  await vi.waitUntil(() => existsSync(join(data, 'restoring', 'database')), { timeout: 120_000, interval: 1 })
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(existsSync(join(data, 'database'))).toBe(false)

  expect(await restore(flags)).toMatchObject({ exitCode: 0 })
  expect(readdirSync(data).toSorted()).toEqual(['database', 'master.key'])
  await served(flags, expectBack)
})

describe.skipIf(requirement('postgresql') === undefined)('on PostgreSQL', () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await startPostgresCluster({ isDurable: false })
  })
  afterAll(() => cluster.stop())

  test('a restore that was killed leaves an empty database, and the next one brings the server back', async () => {
    const url = await cluster.createDatabase()
    const flags = ['--data-dir', join(folder, 'moved'), '--database-url', url]
    const db = new pg.Client({ connectionString: url })
    await db.connect()
    const count = async (what: string): Promise<number> => {
      const { rows } = await db.query<{ count: number }>(`select count(*)::int as count from ${what}`)
      return rows[0]?.count ?? 0
    }
    const others = `pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    try {
      const killed = beginRestore(flags)
      // The transaction of the restore has written.
      await vi.waitUntil(async () => (await count(`${others} and backend_xid is not null`)) > 0, {
        timeout: 120_000,
        interval: 1,
      })
      killed.kill('SIGKILL')
      await once(killed, 'exit')
      await vi.waitUntil(async () => (await count(others)) === 0, { timeout: 60_000 })
      expect(await count(`pg_tables where schemaname = 'public'`)).toBe(0)

      expect(await restore(flags)).toMatchObject({ exitCode: 0 })
      await served(flags, expectBack)
    } finally {
      await db.end()
    }
  })
})
