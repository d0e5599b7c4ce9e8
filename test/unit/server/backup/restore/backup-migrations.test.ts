import { expect, it } from 'vitest'
import type { BackupHead } from '../../../../../src/server/backup/archive/format.ts'
import { countMigrations } from '../../../../../src/server/backup/restore/backup-migrations.ts'
import { BootError } from '../../../../../src/server/ports/boot-error.ts'

const headWith = (...schema: readonly string[]): BackupHead => ({
  format: 1,
  product_version: '1.2.3',
  schema_version: schema.at(-1) ?? '',
  schema: [...schema],
  store: 'embedded',
  created_at: '2026-03-01T12:00:00Z',
  server: { public_url: null, replica: null },
  master_key: { fingerprint: null, included: false },
})

const KNOWN = ['0001-a', '0002-b', '0003-c']

it('a backup of this version or of an older one has the first migrations of this one', () => {
  expect(countMigrations(headWith('0001-a', '0002-b', '0003-c'), KNOWN)).toBe(3)
  expect(countMigrations(headWith('0001-a'), KNOWN)).toBe(1)
})

it.each([
  ['a newer version', ['0001-a', '0002-b', '0003-c', '0004-d'], '0004-d'],
  ['another branch', ['0001-a', '0002-x'], '0002-x'],
] as const)('a backup of %s is refused in one sentence that names the migration', (_version, schema, strange) => {
  const count = () => countMigrations(headWith(...schema), KNOWN)
  expect(count).toThrow(BootError)
  expect(count).toThrow(
    `The backup has the schema of a newer version (migration ${strange}): use that version of ctl, or an older backup.`,
  )
})
