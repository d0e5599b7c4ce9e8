import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, describe, expect, it } from 'vitest'
import type { BackupHead, Manifest } from '../../../../../src/server/backup/archive/format.ts'
import { checkArchive, readHead } from '../../../../../src/server/backup/archive/read-archive.ts'
import { createArchiveWriter } from '../../../../../src/server/backup/archive/write-archive.ts'
import { BootError } from '../../../../../src/server/ports/boot-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-archive-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HEAD: BackupHead = {
  format: 1,
  product_version: '1.0.0',
  schema_version: '0001-foundation',
  schema: ['0001-foundation'],
  store: 'embedded',
  created_at: '2026-11-01T00:00:00.000Z',
  server: { public_url: null, replica: null },
  master_key: { fingerprint: null, included: false },
}

let made = 0
function nextPath(): string {
  made += 1
  return join(folder, `${made}.ctlbackup`)
}

/** A backup of two tables, one of them without rows. */
async function backup(head: object = HEAD): Promise<string> {
  const path = nextPath()
  // The writer opens a file that was made with its mode.
  writeFileSync(path, '')
  const archive = await createArchiveWriter(path, new Date(0))
  await archive.add('backup.json', JSON.stringify(head))
  await archive.beginTable({ table: 'audit', columns: ['id', 'text'] })
  await archive.addRows([Buffer.from('1\ta\\nb\n2\tc\n')], 2)
  await archive.addRows([Buffer.from('3\td\n')], 1)
  await archive.beginTable({ table: 'nodes', columns: ['id'] })
  await archive.add('sequences.json', JSON.stringify({ audit_id_seq: { last_value: '3', is_called: true } }))
  await archive.finish()
  return path
}

/** An archive of any entries, whole as a file. */
async function archiveOf(entries: readonly (readonly [string, string | Buffer])[]): Promise<string> {
  const path = nextPath()
  const tar = pack()
  for (const [name, content] of entries) tar.entry({ name }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  writeFileSync(path, gzipSync(Buffer.concat(chunks)))
  return path
}

/** The backup with its decompressed bytes changed, whole as a gzip file. */
function changed(path: string, change: (tar: Buffer) => Buffer): string {
  const other = nextPath()
  writeFileSync(other, gzipSync(change(gunzipSync(readFileSync(path)))))
  return other
}

function isSameContent(flipped: Buffer, bytes: Buffer): boolean {
  try {
    return gunzipSync(flipped).equals(gunzipSync(bytes))
  } catch {
    return false
  }
}

async function refusal(path: string): Promise<string> {
  const error = await checkArchive(path).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(BootError)
  const { message } = error as BootError
  expect(message).toMatch(/^[^\n]+\.$/)
  return message
}

describe('a backup', () => {
  it('is read with the number of its rows', async () => {
    const { head, manifest, sealedKey } = await checkArchive(await backup())
    expect(head).toEqual(HEAD)
    expect(sealedKey).toBeUndefined()
    expect(manifest.tables).toEqual([
      { table: 'audit', rows: 3, bytes: 15 },
      { table: 'nodes', rows: 0, bytes: 0 },
    ])
  })

  it('is known by its first entry, without the rest', async () => {
    const path = await backup()
    const cut = nextPath()
    writeFileSync(cut, readFileSync(path).subarray(0, -20))
    expect(await readHead(cut)).toEqual(HEAD)
  })

  it.each([
    ['an entry', 0x30],
    ['a header of its own kind', 0x78],
  ])('is refused where the size of %s is no number', async (_what, type) => {
    const path = changed(await backup(), (tar) => {
      tar.write('zzzzzzzzzzz', 124, 'latin1')
      tar[156] = type
      // The checksum of a header is made with spaces in its place.
      tar.fill(0x20, 148, 156)
      const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0)
      tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
      return tar
    })
    expect(await refusal(path)).toMatch(/is not (a whole backup|a backup made by)/)
  })

  it('is refused wherever it is cut off', async () => {
    const bytes = readFileSync(await backup())
    for (let length = 30; length < bytes.length; length += 37) {
      const cut = nextPath()
      writeFileSync(cut, bytes.subarray(0, length))
      expect(await refusal(cut)).toMatch(/is not (a whole backup|a backup made by)/)
    }
  })

  it('is refused where one bit of the compressed file was changed', async () => {
    const bytes = readFileSync(await backup())
    // The header of gzip, 10 bytes, has no checksum, and nothing of the content. Nor has the padding between two blocks.
    for (let at = 10; at < bytes.length; at += 23) {
      const path = nextPath()
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at)
      writeFileSync(path, flipped)
      if (!isSameContent(flipped, bytes))
        expect(await refusal(path)).toMatch(/is not (a whole backup|a backup made by)/)
    }
  })

  it('is refused where a row was changed and the file packed again', async () => {
    const path = changed(await backup(), (tar) => {
      tar.write('9', tar.indexOf('2\tc'))
      return tar
    })
    expect(await refusal(path)).toContain('its entry tables/audit/000001.copy is missing or was changed')
  })

  it('is refused where it ends without its manifest', async () => {
    const path = changed(await backup(), (tar) => {
      const at = tar.indexOf('manifest.json')
      return Buffer.concat([tar.subarray(0, at), Buffer.alloc(1024)])
    })
    expect(await refusal(path)).toContain('it ends without manifest.json')
  })

  it('is refused with an entry more, or one that is missing', async () => {
    const manifest: Manifest = { entries: [], tables: [] }
    const more = await archiveOf([
      ['backup.json', JSON.stringify(HEAD)],
      ['manifest.json', JSON.stringify(manifest)],
    ])
    expect(await refusal(more)).toContain('its entry backup.json is missing or was changed')
    const behind = await archiveOf([
      ['backup.json', JSON.stringify(HEAD)],
      ['../../etc/passwd', 'x'],
    ])
    expect(await refusal(behind)).toContain('it has an entry too many, "../../etc/passwd"')
    const gap = await archiveOf([
      ['backup.json', JSON.stringify(HEAD)],
      ['tables/audit/table.json', JSON.stringify({ table: 'audit', columns: ['id'] })],
      ['tables/audit/000002.copy', '1\n'],
    ])
    expect(await refusal(gap)).toContain('rows of its table audit are missing')
    const foreign = await archiveOf([
      ['backup.json', JSON.stringify(HEAD)],
      ['tables/audit/table.json', JSON.stringify({ table: 'nodes', columns: ['id'] })],
    ])
    expect(await refusal(foreign)).toContain('names another table')
  })

  it('is refused by its number where its format is newer', async () => {
    const message = await refusal(await backup({ ...HEAD, format: 2, other: true }))
    expect(message).toMatch(/has format 2, and this version reads format 1: use a newer version of ctl\.$/)
  })

  it('is refused in one sentence where it is no backup at all', async () => {
    const text = nextPath()
    writeFileSync(text, 'no backup')
    const empty = nextPath()
    writeFileSync(empty, '')
    const tar = await archiveOf([['readme', 'x']])
    for (const path of [text, tar]) expect(await refusal(path)).toContain('is not a backup made by')
    expect(await refusal(empty)).toMatch(/is not (a whole backup|a backup made by)/)
    expect(await refusal(folder)).toContain('cannot be read (EISDIR)')
    expect(await refusal(join(folder, 'absent'))).toContain('cannot be read (ENOENT)')
  })

  it('does not take an entry that is longer than any of a backup into memory', async () => {
    const path = await archiveOf([['backup.json', Buffer.alloc(17 * 1024 * 1024, 0x20)]])
    expect(await refusal(path)).toContain('is longer than any of this version')
  })
})
