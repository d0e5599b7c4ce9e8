import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { backupHead, manifest, type BackupHead, type Manifest } from '../../../src/server/backup/archive/format.ts'

/** A backup as a stranger reads it: every entry, and what its documents say of them. */
export interface ReadBackup {
  readonly head: BackupHead
  readonly manifest: Manifest
  readonly entries: ReadonlyMap<string, Buffer>
  /** Rows of a table, each with its fields in the text format of COPY, by column. */
  rowsOf(table: string): readonly Readonly<Record<string, string>>[]
}

/** Reads the whole file into memory, and fails unless its manifest describes exactly what is in it. */
export async function readBackup(path: string): Promise<ReadBackup> {
  const entries = new Map<string, Buffer>()
  const tar = createReadStream(path).pipe(createGunzip()).pipe(extract())
  for await (const entry of tar as unknown as AsyncIterable<NodeJS.ReadableStream & { header: { name: string } }>)
    entries.set(entry.header.name, await buffer(entry))
  const json = (name: string): unknown => JSON.parse(entries.get(name)?.toString('utf8') ?? 'null')
  const listed = manifest.parse(json('manifest.json'))
  const found = [...entries].slice(0, -1).map(([name, content]) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }))
  if (JSON.stringify(found) !== JSON.stringify(listed.entries)) throw new Error('the manifest describes another file')
  return {
    head: backupHead.parse(json('backup.json')),
    manifest: listed,
    entries,
    rowsOf(table) {
      const { columns } = json(`tables/${table}/table.json`) as { columns: readonly string[] }
      const pieces = [...entries].filter(([name]) => name.startsWith(`tables/${table}/`) && name.endsWith('.copy'))
      const lines = pieces.flatMap(([, content]) => content.toString('utf8').split('\n').slice(0, -1))
      return lines.map((line) => Object.fromEntries(line.split('\t').map((field, at) => [columns[at] ?? '', field])))
    },
  }
}
