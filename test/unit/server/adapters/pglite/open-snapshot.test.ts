import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RawNode, sql, type Kysely, type KyselyPlugin } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { blankDatabase } from '../../../../../scripts/lib/blank-database.mjs'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { createSnapshots } from '../../../../../src/server/adapters/pglite/open-snapshot.ts'
import { migrate } from '../../../../../src/server/adapters/postgres/migrate.ts'
import { DatastoreError } from '../../../../../src/server/ports/datastore.ts'
import type { Tables } from '../../../../../src/server/ports/tables/tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-open-snapshot-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Nothing is asked of the datastore: its maintenance lets no copy begin. */
const DEPS = {
  db: {} as Kysely<Tables>,
  maintenance: { holdLog: () => Promise.reject(new Error('no copy begins')) },
  engineDirectory: join(folder, 'pgdata'),
}

const request = () => ({ signal: new AbortController().signal })

/** The deadline of a statement that contains the text passes, although the engine executes it. */
function lateAnswer(text: string): KyselyPlugin {
  const late = new WeakSet<object>()
  return {
    transformQuery({ node, queryId }) {
      if (RawNode.is(node) && node.sqlFragments.join('').includes(text)) late.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (late.has(queryId)) throw new DatastoreError('unavailable', undefined, new Error('late'))
      return result
    },
  }
}

it('a copy that failed keeps no later one from its turn, and is removed', async () => {
  const scratch = join(folder, 'made', 'scratch')
  const open = createSnapshots(DEPS, scratch)
  await expect(open(request())).rejects.toThrow('no copy begins')
  await expect(open(request())).rejects.toThrow('no copy begins')
  expect(existsSync(scratch)).toBe(false)
})

it('a copy that cannot be removed keeps no later one from its turn', async () => {
  writeFileSync(join(folder, 'file'), '')
  const open = createSnapshots(DEPS, join(folder, 'file', 'scratch'))
  for (const attempt of [1, 2]) await expect(open(request()), `attempt ${attempt}`).rejects.toThrow(/ENOTDIR|EEXIST/)
})

it('a scratch directory that cannot be removed keeps no server from its start; no session stays in a backup', async () => {
  writeFileSync(join(folder, 'no-directory'), '')
  const scratchDir = join(folder, 'no-directory', 'scratch')
  const warnings: string[] = []
  const datastore = await openPglite({
    dataDir: join(folder, 'data'),
    scratchDir,
    engine: { image: await blankDatabase({ openPglite, migrate }) },
    warn: (message) => void warnings.push(message),
  })
  try {
    expect(warnings).toEqual([
      `the scratch directory of backups ${scratchDir} cannot be removed; no backup is made until it can`,
    ])
    await expect(datastore.openSnapshot?.(request())).rejects.toThrow(/ENOTDIR|EEXIST/)

    // In the same datastore: a statement that succeeds after its deadline, as the engine cannot be interrupted.
    const db = datastore.pool('bulk').withPlugin(lateAnswer('pg_backup_start'))
    const maintenance = { holdLog: async () => () => undefined }
    const open = createSnapshots({ ...DEPS, db, maintenance }, join(folder, 'late'))
    for (const attempt of [1, 2])
      await expect(open(request()), `attempt ${attempt}`).rejects.toThrow('datastore: unavailable')
    await sql`select pg_backup_start('left by an ended process of a backup', true)`.execute(datastore.pool('bulk'))
    await expect(open(request())).rejects.toThrow('datastore: unavailable')
    await expect(sql`select pg_backup_stop()`.execute(datastore.pool('bulk'))).rejects.toThrow('not in progress')
  } finally {
    await datastore.close()
  }
}, 60_000)
