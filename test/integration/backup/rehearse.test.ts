import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createBackupSchema } from '../../../src/server/adapters/postgres/backup-schema.ts'
import { MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { rehearse } from '../../../src/server/backup/rehearse/rehearse.ts'
import { createBackupProof } from '../../../src/server/composition/backup-proof.ts'
import { runUpgradeRehearse } from '../../../src/server/commands/upgrade-rehearse.ts'
import { runAdminCommand } from '../../support/backup/admin-run.ts'
import { backUp, flagsOf, served, type Place } from '../../support/backup/served.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const PASSPHRASE = 'a passphrase of some length'
const folder = mkdtempSync(join(tmpdir(), 'ctl-rehearse-'))
const place: Place = { data: join(folder, 'data'), url: undefined }
const backup = join(folder, 'one.ctlbackup')
const passphraseFile = join(folder, 'passphrase')

beforeAll(async () => {
  await served(place, async () => undefined)
  await backUp(place, backup, PASSPHRASE)
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A directory for copies. */
function scratchDirectory(name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

it('an upgrade is rehearsed on a copy that starts and is removed, and nothing of the real server is touched', async () => {
  const scratch = scratchDirectory('scratch')
  // What the real server has there while it makes a backup.
  const ofServer = join(place.data, 'backup-scratch', 'pgdata')
  mkdirSync(ofServer, { recursive: true })
  const own = ['--backup', backup, '--passphrase-file', passphraseFile, '--scratch-dir', scratch, '-o', 'json']
  const ofServe = ['--backup-dir', join(folder, 'on-another-host'), ...flagsOf(place)]
  const { exitCode, stdout } = await runAdminCommand(runUpgradeRehearse, [...own, ...ofServe])
  const { migrations, checks } = JSON.parse(stdout) as {
    migrations: unknown[]
    checks: { check: string; verdict: string; details: string[] }[]
  }
  expect(checks.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining(['archive', 'migrations', 'outbox', 'start']))
  expect({ exitCode, migrations }).toEqual({ exitCode: 0, migrations: [] })
  expect(readdirSync(scratch)).toEqual([])
  expect(existsSync(ofServer)).toBe(true)
})

it('a migration that fails is named with its reason, and no later one is tried', async () => {
  const { migrations, checks } = await rehearse({
    path: backup,
    directory: scratchDirectory('failing'),
    key: { skipped: 'not asked for' },
    warn: () => undefined,
    proof: createBackupProof(
      createBackupSchema([
        ...MIGRATIONS,
        { name: '9997-works', sql: 'create table added (id integer primary key)' },
        { name: '9998-fails', sql: 'select 1 / 0' },
        { name: '9999-later', sql: 'select 1' },
      ]),
    ),
  })
  expect(migrations.map(({ name, failure }) => [name, failure])).toEqual([
    ['9997-works', null],
    ['9998-fails', 'division by zero'],
  ])
  expect(checks.filter(({ verdict }) => verdict === 'failed')).toMatchObject([
    {
      check: 'migrations',
      details: ['The migration 9998-fails fails (division by zero): stay at the version of the backup, and report it.'],
    },
  ])
})
