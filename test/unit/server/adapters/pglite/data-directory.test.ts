import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { directoryErrorOf, prepareDirectory } from '../../../../../src/server/adapters/pglite/data-directory.ts'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'
import { EngineRefusal } from '../../../../../src/server/adapters/pglite/engine.ts'
import { BootError } from '../../../../../src/server/ports/boot-error.ts'

let dataDir: string
const at = (...parts: string[]) => join(dataDir, 'database', ...parts)

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ctl-data-'))
  return () => rmSync(dataDir, { recursive: true })
})

describe('preparing the directory', () => {
  test('the rest of a first start that was cut short is built again, and marked ready at the end', () => {
    mkdirSync(at('pgdata'), { recursive: true })
    writeFileSync(at('pgdata', 'PG_VERSION'), '18\n')
    writeFileSync(at('pgdata', 'half-written'), '')
    expect(prepareDirectory(dataDir)).toEqual({ engineDirectory: at('pgdata'), isNew: true })
    expect(existsSync(at('pgdata', 'half-written'))).toBe(false)
    expect(readFileSync(at('pgdata', 'PG_VERSION'), 'utf8')).toBe('18\n')
    expect(readFileSync(at('ready'), 'utf8')).toBe('18\n')
  })

  test('a directory that is ready is left as it is', () => {
    mkdirSync(at('pgdata'), { recursive: true })
    writeFileSync(at('pgdata', 'PG_VERSION'), '18\n')
    writeFileSync(at('pgdata', 'kept'), 'as it was')
    writeFileSync(at('ready'), '18\n')
    expect(prepareDirectory(dataDir)).toEqual({ engineDirectory: at('pgdata'), isNew: false })
    expect(readFileSync(at('pgdata', 'kept'), 'utf8')).toBe('as it was')
  })

  test('the format of another major version is refused, and nothing is touched', () => {
    mkdirSync(at('pgdata'), { recursive: true })
    writeFileSync(at('pgdata', 'PG_VERSION'), '17\n')
    writeFileSync(at('ready'), '17\n')
    expect(() => prepareDirectory(dataDir)).toThrow(
      new BootError(
        1,
        `The data directory ${dataDir} has the format of PostgreSQL 17, and this version embeds 18: run the version that made it.`,
      ),
    )
    expect(readFileSync(at('pgdata', 'PG_VERSION'), 'utf8')).toBe('17\n')
  })
})

test('a data directory that cannot be created is one sentence', async () => {
  await expect(openPglite({ dataDir: '/proc/nowhere/data' })).rejects.toMatchObject({
    exitCode: 1,
    message: 'The data directory /proc/nowhere cannot be created: choose another with --data-dir.',
  })
})

test('a data directory whose engine directory is gone is one sentence, and is not built anew', async () => {
  mkdirSync(at(), { recursive: true })
  writeFileSync(at('ready'), '18\n')
  await expect(openPglite({ dataDir })).rejects.toMatchObject({
    exitCode: 1,
    message: `The data directory ${dataDir} is damaged: restore a backup, or choose another with --data-dir.`,
  })
  expect(existsSync(at('pgdata'))).toBe(false)
})

test('a data directory that is a file is one sentence', async () => {
  const file = join(dataDir, 'file')
  writeFileSync(file, '')
  await expect(openPglite({ dataDir: file })).rejects.toMatchObject({
    exitCode: 1,
    message: `The data directory ${file} is not a directory: choose another with --data-dir.`,
  })
})

test.each([
  ['EACCES', 'cannot be written: let this account write there, or choose another with --data-dir'],
  ['EROFS', 'is on a read-only file system: choose another with --data-dir'],
  ['ENOSPC', 'has no space left: free some, then start again'],
  ['EDQUOT', 'has used up its quota: free some space, then start again'],
])('%s is a sentence that says what to do', (code, advice) => {
  const cause = Object.assign(new Error('no'), { code })
  const error = directoryErrorOf(cause, '/data')
  expect(error).toBeInstanceOf(BootError)
  expect(error).toMatchObject({ exitCode: 1, message: `The data directory /data ${advice}.`, cause })
})

test('a full disk is recognised in the words of the engine', () => {
  const refusal = new EngineRefusal('could not write to file "pg_wal/xlogtemp.42": No space left on device')
  expect(directoryErrorOf(refusal, '/data')).toMatchObject({
    message: 'The data directory /data has no space left: free some, then start again.',
  })
})

test('another refusal of the engine is passed on in its own words', () => {
  expect(directoryErrorOf(new EngineRefusal('no valid checkpoint'), '/data')).toMatchObject({
    exitCode: 1,
    message: 'The embedded datastore in /data does not start: no valid checkpoint.',
  })
})

test('what nobody expected stays what it is', () => {
  const bug = new TypeError('a bug')
  expect(directoryErrorOf(bug, '/data')).toBe(bug)
})
