import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createBackups, type BackupOrder } from '../../../../../src/server/backup/snapshot/create-backup.ts'
import { BackupRefusal } from '../../../../../src/server/ports/snapshot.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-make-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Makes backups of a datastore whose snapshots fail when the test ends them. */
function failing() {
  const snapshots: { readonly fail: (reason: Error) => void }[] = []
  const make = createBackups({
    openSnapshot: () => new Promise((_resolve, fail) => void snapshots.push({ fail })),
    clock: { now: () => 0 },
    keys: { fingerprint: () => null, secrets: () => ({ master_key: '' }) },
    productVersion: '1.2.3',
    store: 'embedded',
    server: { public_url: null, replica: null },
    migrations: [],
  })
  const begun = (count: number) => expect.poll(() => snapshots.length, { timeout: 10_000 }).toBe(count)
  return { make, begun, fail: () => snapshots.at(-1)?.fail(new Error('the snapshot failed')) }
}

it('refuses a second backup of the same file, and leaves the first one its partial file', async () => {
  const { make, begun, fail } = failing()
  const order: BackupOrder = { path: join(folder, 'one'), replaces: true, signal: new AbortController().signal }
  const first = expect(make(order)).rejects.toThrow('the snapshot failed')
  await begun(1)
  await expect(make(order)).rejects.toThrow(BackupRefusal)
  expect(readdirSync(folder)).toEqual([`one.${process.pid}.partial`])
  fail()
  await first
  expect(readdirSync(folder)).toEqual([])
  const next = expect(make(order)).rejects.toThrow('the snapshot failed')
  await begun(2)
  fail()
  await next
})
