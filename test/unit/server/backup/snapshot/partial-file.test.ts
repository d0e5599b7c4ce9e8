import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { reservePartial } from '../../../../../src/server/backup/snapshot/partial-file.ts'
import { BackupRefusal } from '../../../../../src/server/ports/snapshot.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-partial-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('has the name of the backup, and mode 0600, once it is published', async () => {
  const partial = await reservePartial(join(folder, 'one'), false)
  writeFileSync(partial.path, 'whole')
  await partial.publish()
  expect(readdirSync(folder)).toEqual(['one'])
  expect(readFileSync(join(folder, 'one'), 'utf8')).toBe('whole')
  expect(statSync(join(folder, 'one')).mode & 0o777).toBe(0o600)
})

it('is never taken for that of another container with the same process id', async () => {
  const first = await reservePartial(join(folder, 'one'), false)
  const second = await reservePartial(join(folder, 'one'), false)
  writeFileSync(second.path, 'half')
  await expect(first.assertOwn()).rejects.toThrow(BackupRefusal)
  await expect(first.publish()).rejects.toThrow(BackupRefusal)
  await first.remove()
  expect(readdirSync(folder)).toEqual([`one.${process.pid}.partial`])
  await second.publish()
  expect(readFileSync(join(folder, 'one'), 'utf8')).toBe('half')
})

it('is gone once it is removed, also where its directory was emptied', async () => {
  const partial = await reservePartial(join(folder, 'one'), false)
  await partial.remove()
  expect(readdirSync(folder)).toEqual([])
  const next = await reservePartial(join(folder, 'two'), false)
  rmSync(next.path)
  await next.remove()
  expect(readdirSync(folder)).toEqual([])
})
