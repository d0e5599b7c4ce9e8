import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  looseMode,
  makeMasterKey,
  masterKeyOf,
  readMasterKey,
} from '../../../../../src/server/adapters/keyring/master-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-master-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const BYTES = Buffer.alloc(32, 7)

test('the id of a master key is the same wherever the key comes from', () => {
  const path = join(folder, 'given.key')
  writeFileSync(path, ` ${BYTES.toString('base64')}\n`)
  expect(readMasterKey({ kind: 'file', path })?.id).toBe('mk-bc575064722a')
  expect(readMasterKey({ kind: 'given', key: BYTES })?.id).toBe('mk-bc575064722a')
  expect(masterKeyOf(Buffer.alloc(32, 8)).id).not.toBe('mk-bc575064722a')
})

test('a key of its own is made once, readable by nobody else, and read back', () => {
  const path = join(folder, 'deep/er/master.key')
  expect(readMasterKey({ kind: 'own', path })).toBeUndefined()
  const made = makeMasterKey(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700)
  expect(readMasterKey({ kind: 'own', path })?.id).toBe(made.id)
  const text = readFileSync(path, 'utf8')
  expect(() => makeMasterKey(path)).toThrow(`The master key cannot be written to ${path} (EEXIST)`)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a link in the place of the key file is not followed', () => {
  const target = join(folder, 'elsewhere')
  symlinkSync(target, join(folder, 'link.key'))
  expect(() => makeMasterKey(join(folder, 'link.key'))).toThrow('cannot be written')
  expect(statSync(target, { throwIfNoEntry: false })).toBeUndefined()
})

test('a file that holds no key, and one that is missing, are refused by name', () => {
  const path = join(folder, 'bad.key')
  writeFileSync(path, 'hunter2')
  expect(() => readMasterKey({ kind: 'own', path })).toThrow(
    `The master key file ${path} must hold 32 bytes in base64; put the right key there.`,
  )
  expect(() => readMasterKey({ kind: 'file', path: '/nonexistent/k' })).toThrow(
    'The master key file /nonexistent/k cannot be read (ENOENT); check the path and its mode.',
  )
})

test('a key file of its own that others can read is pointed out', () => {
  const path = join(folder, 'loose.key')
  makeMasterKey(path)
  for (const kind of ['own', 'file'] as const) expect(looseMode({ kind, path })).toBeUndefined()
  chmodSync(path, 0o640)
  for (const kind of ['own', 'file'] as const)
    expect(looseMode({ kind, path })).toBe(`Others can read the master key ${path}; run: chmod 600 ${path}`)
})
