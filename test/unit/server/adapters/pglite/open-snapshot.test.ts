import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { blankDatabase } from '../../../../../scripts/lib/blank-database.mjs'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { createSnapshots } from '../../../../../src/server/adapters/pglite/open-snapshot.ts'
import { migrate } from '../../../../../src/server/adapters/postgres/migrate.ts'
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

it('a scratch directory that cannot be removed keeps no server from its start', async () => {
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
  } finally {
    await datastore.close()
  }
}, 60_000)
