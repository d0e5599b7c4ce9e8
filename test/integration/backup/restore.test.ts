import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { readMasterKey } from '../../../src/server/adapters/keyring/master-key.ts'
import { loadBackup } from '../../../src/server/backup/restore/load-backup.ts'
import { datastoreChecks } from '../../../src/server/backup/verify/datastore-checks.ts'
import { keyCheck } from '../../../src/server/backup/verify/key-check.ts'
import { loadResults } from '../../../src/server/backup/verify/verify.ts'
import { runBackupRestore } from '../../../src/server/commands/backup-restore.ts'
import { runUpgradeRehearse } from '../../../src/server/commands/upgrade-rehearse.ts'
import { runBackupVerify } from '../../../src/server/commands/backup-verify.ts'
import { createBackupProof } from '../../../src/server/composition/backup-proof.ts'
import type { BackupProof } from '../../../src/server/ports/backup-proof.ts'
import type { LoadedKeys } from '../../../src/server/ports/backup-schema.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { RunningServer } from '../../../src/server/composition/serve.ts'
import { runAdminCommand } from '../../support/backup/admin-run.ts'
import { makeOlderStore } from '../../support/backup/older-store.ts'
import { backUp, flagsOf, served, type Place } from '../../support/backup/served.ts'
import { startPostgresCluster, type PostgresCluster } from '../../support/datastores/postgres-cluster.ts'
import { textUntil } from '../../support/network/stream-text.ts'
import { requirement } from '../../support/run/requirements.mjs'
import { callServer, enrol, heartbeatOf, type EnrolledNode } from '../../support/server/replicas.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const PASSPHRASE = 'a passphrase of some length'
const folder = mkdtempSync(join(tmpdir(), 'ctl-restore-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hasPostgres = requirement('postgresql') !== undefined
let cluster: PostgresCluster | undefined
beforeAll(async () => {
  if (hasPostgres) cluster = await startPostgresCluster({ isDurable: false })
})
afterAll(() => cluster?.stop())

type Kind = 'embedded' | 'postgres'
let made = 0

/** What a version had whose backups are restored here. */
const OLDER_MIGRATIONS = 15

async function newPlace(kind: Kind): Promise<Place> {
  made += 1
  return { data: join(folder, `place-${made}`), url: kind === 'embedded' ? undefined : await cluster?.createDatabase() }
}

/** A server with a Domain and two nodes, one of which has seen an event. */
interface Origin {
  readonly place: Place
  readonly token: string
  readonly nodes: readonly EnrolledNode[]
  readonly backup: string
  /** Without the master key. */
  readonly keyless: string
}

const tokenOf = ({ data }: Place): string => readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()

async function originOf(kind: Kind): Promise<Origin> {
  const place = await newPlace(kind)
  const nodes = await served(place, async (server) => {
    const token = tokenOf(place)
    await callServer(server, {
      token,
      method: 'POST',
      path: '/v1/domains',
      body: { slug: 'kept', display_name: 'Kept' },
    })
    const whoami = await callServer(server, { token, path: '/v1/auth/whoami' })
    const domainId = String(whoami.body['domain_id'])
    const first = await enrol(server, { token, domainId, nodes: 1 })
    const stream = await streamOf(server, first[0] as EnrolledNode)
    const enrolled = [...first, ...(await enrol(server, { token, domainId, nodes: 1 }))]
    await textUntil(stream, /^data: .*$/m)
    for (const node of enrolled) expect((await callServer(server, heartbeatOf(node))).status).toBe(200)
    await vi.waitFor(async () => expect(await auditVerdict(server, token)).toBe('intact'), 60_000)
    return enrolled
  })
  const [backup, keyless] = [join(folder, `${kind}.ctlbackup`), join(folder, `${kind}-keyless.ctlbackup`)]
  await backUp(place, backup, PASSPHRASE)
  await backUp(place, keyless)
  return { place, token: tokenOf(place), nodes, backup, keyless }
}

function streamOf(server: RunningServer, { id, nsk }: EnrolledNode, lastEventId?: string): Promise<Response> {
  return fetch(`${server.url}/v1/nodes/${id}/events`, {
    headers: { authorization: `Bearer ${nsk}`, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal: AbortSignal.timeout(60_000),
  })
}

async function auditVerdict(server: RunningServer, token: string): Promise<unknown> {
  const { body: whoami } = await callServer(server, { token, path: '/v1/auth/whoami' })
  const { body } = await callServer(server, {
    token,
    path: `/v1/audit/verify?domain_id=${String(whoami['domain_id'])}`,
  })
  return (body['rows'] as number) > 0 ? body['verdict'] : body
}

/** What is changed in a datastore, and the only fault that the check of it then finds. */
const DAMAGES = [
  {
    name: 'audit chains',
    change: `update audit set outcome = outcome || '.' where id =
      (select audit_id from audit_seals where seq = 3 order by chain_id limit 1)`,
    fault: /^The chain \S+ is broken at row 3 \(\w+\): use another backup\.$/,
  },
  {
    name: 'relation tuples',
    change: `update relation_tuples set resource_id = '01900000-0000-7000-8000-000000000001'
      where id = (select min(id::text)::uuid from relation_tuples where resource_type = 'node')`,
    fault: /^1 relation tuples are on a node that does not exist: use another backup\.$/,
  },
  {
    name: 'outbox',
    change: `update outbox_consumers set seq = (select seq from outbox_head) + 5 where name = 'event-relay'`,
    fault: /^The consumer event-relay is at \d+, outside of the outbox \(\d+ to \d+\): use another backup\.$/,
  },
  {
    name: 'sequences',
    change: `select setval('outbox_id_seq', 1)`,
    fault: /^The sequence of outbox\.id is behind its rows: use another backup\.$/,
  },
  {
    name: 'event sequence',
    change: `update node_lanes set hinted_seq = (select seq from outbox_head) + 1
      where node_id = (select min(node_id::text)::uuid from node_lanes)`,
    fault: /^The events of node:\S+ go on ahead of the outbox: use another backup\.$/,
  },
  {
    name: 'sealed values',
    change: `update nodes set psk_sealed = set_byte(psk_sealed, length(psk_sealed) - 1, get_byte(psk_sealed, length(psk_sealed) - 1) # 1)
      where id = (select min(id::text)::uuid from nodes)`,
    fault: /^1 of 2 values of nodes\.psk_sealed do not open under the keyring: use another backup\.$/,
  },
] as const

/** The foreign keys that a row without its parent breaks. Nothing of it stays. */
async function brokenKeys(store: Datastore, { schema }: BackupProof): Promise<LoadedKeys['broken']> {
  let broken: LoadedKeys['broken'] = []
  const undone = new Error('undone')
  await expect(
    store.transaction('bulk', async (tx) => {
      const load = await schema.begin(tx, { count: schema.migrations.length, isOwn: true })
      const columns = ['id', 'project_id', 'name', 'created_at', 'updated_at']
      const id = '01900000-0000-7000-8000-000000000001'
      await load.beginTable('project_secrets')
      await load.addRows(
        { table: 'project_secrets', columns },
        Buffer.from(`${id}\t${id}\tn\t2026-03-01\t2026-03-01\n`),
      )
      ;({ broken } = await load.finish())
      throw undone
    }),
  ).rejects.toBe(undone)
  return broken
}

const restore = (argv: readonly string[], typed?: string) => runAdminCommand(runBackupRestore, argv, typed)

interface Pulled {
  readonly etag: string | null
  readonly psk: string
}

async function pull(server: RunningServer, { id, nsk }: EnrolledNode): Promise<Pulled> {
  const response = await fetch(`${server.url}/v1/nodes/${id}/state`, { headers: { authorization: `Bearer ${nsk}` } })
  const state = (await response.json()) as { self: { psk_issued_at: string } }
  expect(response.status).toBe(200)
  return { etag: response.headers.get('etag'), psk: state.self.psk_issued_at }
}

const DIRECTIONS = (['embedded', 'postgres'] as const).flatMap((from) =>
  (['embedded', 'postgres'] as const).map((to) => ({ from, to })),
)

describe.each(['embedded', 'postgres'] as const)('a backup of the %s store', (from) => {
  let origin: Origin
  beforeAll(async () => {
    if (from === 'embedded' || hasPostgres) origin = await originOf(from)
  })

  it.skipIf(from === 'postgres' && !hasPostgres)(
    'passes every check of a verification, with the key in it',
    async () => {
      const file = join(folder, 'passphrase')
      writeFileSync(file, `${PASSPHRASE}\n`)
      const scratch = join(folder, `scratch-${from}`)
      mkdirSync(scratch)
      const empty = await newPlace('embedded')
      const argv = [origin.backup, '--scratch-dir', scratch, '--passphrase-file', file, '-o', 'json', ...flagsOf(empty)]
      const { exitCode, stdout, stderr } = await runAdminCommand(runBackupVerify, argv)
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      const { checks } = JSON.parse(stdout) as { checks: { check: string; verdict: string; count: number }[] }
      expect(checks.map(({ check, verdict }) => `${check}: ${verdict}`)).toEqual([
        'archive: ok',
        'restore: ok',
        'foreign keys: ok',
        'sequences: ok',
        'audit chains: ok',
        'relation tuples: ok',
        'outbox: ok',
        'event sequence: ok',
        'sealed values: ok',
      ])
      expect(checks.filter(({ count }) => count === 0)).toEqual([])
      expect(readdirSync(scratch)).toEqual([])
      expect(existsSync(empty.data)).toBe(false)
    },
  )

  describe.each(DIRECTIONS.filter((direction) => direction.from === from))('restored into $to', ({ to }) => {
    it.skipIf((from === 'postgres' || to === 'postgres') && !hasPostgres)(
      'has its tokens, nodes and audit chains; nodes begin again with newer keys',
      async () => {
        const place = await newPlace(to)
        if (to === 'embedded') mkdirSync(join(place.data, 'restoring', 'database'), { recursive: true, mode: 0o700 })
        const { exitCode, stderr } = await restore([origin.backup, '--with-master-key', ...flagsOf(place)], PASSPHRASE)
        expect(stderr).toContain('Restored')
        expect({ exitCode, nodes: /(\d+) nodes will pull/.exec(stderr)?.[1] }).toEqual({ exitCode: 0, nodes: '2' })
        expect(stderr).toContain('all are there')
        expect(existsSync(join(place.data, 'restoring'))).toBe(false)
        expect(statSync(join(place.data, 'master.key')).mode & 0o777).toBe(0o600)
        const before = await served(origin.place, (server) => pull(server, origin.nodes[0] as EnrolledNode))
        await served(place, async (server) => {
          const { token, nodes } = origin
          expect(server.firstRun).not.toBe('founded')
          const listed = await callServer(server, { token, path: '/v1/domains' })
          expect((listed.body['items'] as { slug: string }[]).map(({ slug }) => slug).toSorted()).toEqual([
            'default',
            'kept',
          ])
          expect(await auditVerdict(server, token)).toBe('intact')
          for (const node of nodes) expect((await callServer(server, heartbeatOf(node))).status).toBe(200)
          const after = await pull(server, nodes[0] as EnrolledNode)
          expect(after.psk > before.psk).toBe(true)
          expect(after.etag).not.toBe(before.etag)
          const stream = await streamOf(server, nodes[0] as EnrolledNode, '700')
          expect(await textUntil(stream, /^data: .*$/m)).toContain('"resync"')
          // What is added goes on from the sequences of the backup.
          const whoami = await callServer(server, { token, path: '/v1/auth/whoami' })
          await enrol(server, { token, domainId: String(whoami.body['domain_id']), nodes: 1 })
        })
      },
    )
  })

  describe('made by an older version', () => {
    const older = join(folder, `${from}-older.ctlbackup`)
    const passphraseFile = join(folder, `${from}-older-passphrase`)
    beforeAll(async () => {
      if (from === 'postgres' && !hasPostgres) return
      writeFileSync(passphraseFile, `${PASSPHRASE}\n`)
      const place = await newPlace(from)
      await makeOlderStore({ place, count: OLDER_MIGRATIONS, of: origin })
      await backUp(place, older, PASSPHRASE)
    })

    it.skipIf(from === 'postgres' && !hasPostgres)('is migrated by its restore, and works', async () => {
      const place = await newPlace(from)
      const { exitCode, stderr } = await restore([older, '--with-master-key', ...flagsOf(place)], PASSPHRASE)
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expect(stderr).toContain('and brought its schema from 00')
      await served(place, async (server) => {
        const { token, nodes } = origin
        expect(await auditVerdict(server, token)).toBe('intact')
        for (const node of nodes) expect((await callServer(server, heartbeatOf(node))).status).toBe(200)
        await pull(server, nodes[0] as EnrolledNode)
        const whoami = await callServer(server, { token, path: '/v1/auth/whoami' })
        await enrol(server, { token, domainId: String(whoami.body['domain_id']), nodes: 1 })
      })
    })

    it.skipIf(from === 'postgres')('has its upgrade rehearsed, migration by migration', async () => {
      const empty = await newPlace('embedded')
      const own = ['--backup', older, '--scratch-dir', folder, '--passphrase-file', passphraseFile, '-o', 'json']
      const { exitCode, stdout } = await runAdminCommand(runUpgradeRehearse, [...own, ...flagsOf(empty)])
      const { migrations, checks } = JSON.parse(stdout) as {
        migrations: { name: string; failure: unknown }[]
        checks: { verdict: string }[]
      }
      expect(checks.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
      expect(migrations.map(({ name, failure }) => ({ name, failure }))).toEqual(
        MIGRATIONS.slice(OLDER_MIGRATIONS).map(({ name }) => ({ name, failure: null })),
      )
      expect(exitCode).toBe(0)
    })
  })

  it.skipIf(from === 'postgres')(
    'whose rows were changed before it was made does not pass its verification',
    async () => {
      const proof = createBackupProof()
      const scratch = mkdtempSync(join(folder, 'damaged-'))
      const store = await proof.openScratch(scratch, () => undefined)
      try {
        const loaded = await store.transaction('bulk', (tx) =>
          loadBackup(tx, { path: origin.backup, isOwn: true, schema: proof.schema }),
        )
        const key = readMasterKey({ kind: 'file', path: join(origin.place.data, 'master.key') })
        if (key === undefined) throw new Error('there is no master key')
        const checks = [...datastoreChecks(store, proof), keyCheck(store, { key, proof })]
        for (const { name, change, fault } of DAMAGES) {
          const check = checks.find((each) => each.name === name)
          expect(await check?.run()).toMatchObject({ faults: [] })
          await sql.raw(change).execute(store.pool('bulk'))
          expect(await check?.run()).toMatchObject({ faults: [expect.stringMatching(fault)] })
        }
        const broken = await brokenKeys(store, proof)
        expect(loadResults({ ...loaded, broken }, 0).filter(({ verdict }) => verdict === 'failed')).toMatchObject([
          {
            check: 'foreign keys',
            details: [
              'Rows of project_secrets refer to rows that the backup does not have (project_secrets_project_id_fkey): use another backup.',
            ],
          },
        ])
      } finally {
        await store.close()
      }
    },
  )

  it.skipIf(from === 'postgres')('needs its master key unless it brings it, and never overwrites another', async () => {
    const place = await newPlace('embedded')
    const bare = await restore([origin.keyless, ...flagsOf(place)])
    expect(bare).toMatchObject({ exitCode: 1, stdout: '' })
    expect(bare.stderr).toMatch(
      /sealed under master key mk-[0-9a-f]{12}, and there is none at .*master\.key: put the right one there/,
    )
    expect(readdirSync(place.data)).toEqual([])
    const other = await newPlace('embedded')
    await served(other, async () => undefined)
    copyFileSync(join(other.data, 'master.key'), join(place.data, 'master.key'))
    const key = readFileSync(join(place.data, 'master.key'), 'utf8')
    const wrong = await restore([origin.keyless, ...flagsOf(place)])
    expect(wrong.stderr).toMatch(/that of .*master\.key is mk-[0-9a-f]{12}/)
    const over = await restore([origin.backup, '--with-master-key', ...flagsOf(place)], PASSPHRASE)
    expect(over.stderr).toMatch(/There is another master key in .*master\.key/)
    expect([wrong.exitCode, over.exitCode]).toEqual([1, 1])
    expect(readFileSync(join(place.data, 'master.key'), 'utf8')).toBe(key)
    expect(readdirSync(place.data)).toEqual(['master.key'])
  })

  it.skipIf(from === 'postgres')('opens with its passphrase only', async () => {
    const place = await newPlace('embedded')
    const wrong = await restore([origin.backup, '--with-master-key', ...flagsOf(place)], 'another passphrase')
    expect(wrong).toMatchObject({ exitCode: 1 })
    expect(wrong.stderr).toContain('does not open with this passphrase')
    const none = await restore([origin.backup, '--with-master-key', ...flagsOf(place)])
    expect(none).toMatchObject({ exitCode: 2 })
    expect(none.stderr).toContain('--passphrase-file')
    const keyless = await restore([origin.keyless, '--with-master-key', ...flagsOf(place)], PASSPHRASE)
    expect(keyless.stderr).toContain('There is no master key in')
    const unused = await restore([origin.keyless, '--passphrase-file', join(folder, 'none'), ...flagsOf(place)])
    expect(unused).toMatchObject({ exitCode: 2 })
    expect(unused.stderr).toContain('--passphrase-file opens the master key in the backup: it needs --with-master-key.')
    expect(readdirSync(place.data)).toEqual([])
  })

  it.skipIf(from === 'postgres' && !hasPostgres)(
    'is refused by a datastore that is not empty, which stays as it is',
    async () => {
      const { exitCode, stderr } = await restore([origin.backup, ...flagsOf(origin.place)])
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(from === 'embedded' ? /There is a datastore in/ : /The database has \d+ tables already/)
      await served(origin.place, async (server) => {
        expect((await callServer(server, { token: origin.token, path: '/v1/domains' })).status).toBe(200)
      })
    },
  )

  it.skipIf(from === 'postgres')('is refused while a server runs', async () => {
    await served(origin.place, async () => {
      const { exitCode, stderr } = await restore([origin.backup, ...flagsOf(origin.place)])
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/is in use by process \d+/)
    })
  })
})
