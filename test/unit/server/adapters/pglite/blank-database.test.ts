import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { archiveOf } from '../../../../../scripts/lib/archive.mjs'
import { readArchive } from '../../../../../src/server/adapters/pglite/archive.ts'
import { unpackBlankDatabase } from '../../../../../src/server/adapters/pglite/blank-database.ts'
import { openPglite } from '../../../../../src/server/adapters/pglite/database.ts'

let folder: string
let archive: Buffer
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-blank-'))
  mkdirSync(join(folder, 'made/base/empty'), { recursive: true })
  writeFileSync(join(folder, 'made/base/1'), 'x'.repeat(512))
  writeFileSync(join(folder, 'made/base/2'), Buffer.from([0, 255, 0]))
  writeFileSync(join(folder, 'made/none'), '')
  archive = archiveOf(join(folder, 'made'))
  return () => rmSync(folder, { recursive: true })
})

test('what the build packs is what a first start unpacks: bytes, empty files and empty directories', () => {
  const image = join(folder, 'image.tar.gz')
  writeFileSync(image, gzipSync(archive))
  const target = join(folder, 'unpacked')
  unpackBlankDatabase(image, target)
  const found = readdirSync(target, { recursive: true }).map(String).toSorted()
  expect(found).toEqual(['base', 'base/1', 'base/2', 'base/empty', 'none'])
  expect(readFileSync(join(target, 'base/1'), 'utf8')).toBe('x'.repeat(512))
  expect([...readFileSync(join(target, 'base/2'))]).toEqual([0, 255, 0])
  expect(readFileSync(join(target, 'none'))).toHaveLength(0)
})

describe('an archive that is not whole is refused', () => {
  const names = (bytes: Buffer) => [...readArchive(bytes)].map(({ path }) => path)

  test('cut between two entries', () => {
    expect(() => names(archive.subarray(0, 512))).toThrow('the archive ends too soon')
  })

  test('cut within a file', () => {
    const start = archive.indexOf('base/1')
    expect(() => names(archive.subarray(0, start + 512 + 100))).toThrow(
      'the archive has an entry that cannot be read: base/1',
    )
  })

  test('with an entry of another kind', () => {
    archive[archive.indexOf('none') + 156] = '2'.charCodeAt(0)
    expect(() => names(archive)).toThrow('the archive has an entry that cannot be read: none')
  })
})

test('a first start whose archive cannot be read leaves no datastore behind', async () => {
  const image = join(folder, 'cut.tar.gz')
  writeFileSync(image, gzipSync(archive.subarray(0, 512)))
  const dataDir = join(folder, 'data')
  await expect(openPglite({ dataDir, engine: { image } })).rejects.toThrow('the archive ends too soon')
  expect(readdirSync(dataDir)).toEqual([])
})
