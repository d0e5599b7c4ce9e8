import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeKey } from '../../../../../src/server/backup/restore/master-key-plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-key-plan-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SECRETS = { master_key: Buffer.alloc(32, 7).toString('base64') }

it('writes the master key with mode 0600', () => {
  const path = join(folder, 'new', 'master.key')
  writeKey(path, SECRETS)
  expect(readFileSync(path, 'utf8')).toBe(`${SECRETS.master_key}\n`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('keeps former keys beside it, and removes only what a killed process has left', () => {
  const path = join(folder, 'kept', 'master.key')
  mkdirSync(join(folder, 'kept'))
  for (const name of ['20261128', 'old', '4711.partial']) writeFileSync(`${path}.${name}`, 'former')
  writeKey(path, SECRETS)
  expect(readdirSync(join(folder, 'kept')).toSorted()).toEqual(['master.key', 'master.key.20261128', 'master.key.old'])
})

it('fails where a key was made meanwhile, which stays, so that no datastore is restored without its key', () => {
  const path = join(folder, 'master.key')
  writeFileSync(path, 'another')
  expect(() => writeKey(path, SECRETS)).toThrow(`A master key was made in ${path} during the restore`)
  expect(readFileSync(path, 'utf8')).toBe('another')
  expect(readdirSync(folder).filter((name) => name.startsWith('master.key.'))).toEqual([])
})
