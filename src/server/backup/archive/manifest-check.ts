import { isDeepStrictEqual } from 'node:util'
import type { EntryName, Manifest } from './format.ts'

/** An entry as it was read. */
interface ReadEntry {
  readonly entry: EntryName
  readonly name: string
  readonly bytes: Buffer
  /** 64 hex digits. */
  readonly sha256: string
}

/** Compares what was read of a backup with the manifest at its end. */
export interface ManifestCheck {
  /** Takes the next entry. @throws what `refuse` makes, for rows that do not follow their table or each other */
  take(entry: ReadEntry): void
  /** @throws what `refuse` makes, unless the manifest names exactly the entries and the rows that were taken. */
  confirm(manifest: Manifest): void
}

const NEWLINE = 0x0a

/** Creates a check. `refuse` makes the error for a reason, e.g. `its entry a is cut off`. */
export function createManifestCheck(refuse: (reason: string) => Error): ManifestCheck {
  const entries: Manifest['entries'] = []
  const tables: Manifest['tables'] = []
  let pieces = 0

  /** Pieces follow the head of their table, from 1 and without a gap. */
  function takeRows(piece: { readonly table: string; readonly piece: number }, bytes: Buffer): void {
    const table = tables.at(-1)
    if (table?.table !== piece.table || piece.piece !== pieces + 1)
      throw refuse(`rows of its table ${piece.table} are missing`)
    if (bytes.length > 0 && bytes.at(-1) !== NEWLINE) throw refuse(`a row of its table ${piece.table} is cut off`)
    pieces++
    table.rows += linesIn(bytes)
    table.bytes += bytes.length
  }

  return {
    take({ entry, name, bytes, sha256 }) {
      entries.push({ name, bytes: bytes.length, sha256 })
      if (entry.kind === 'tableHead') {
        tables.push({ table: entry.table, rows: 0, bytes: 0 })
        pieces = 0
      }
      if (entry.kind === 'rows') takeRows(entry, bytes)
    },
    confirm(manifest) {
      const different = firstDifference(manifest.entries, entries)
      if (different !== undefined) throw refuse(`its entry ${different.name} is missing or was changed`)
      const table = firstDifference(manifest.tables, tables)
      if (table !== undefined) throw refuse(`it has other rows of the table ${table.table} than its manifest names`)
    },
  }
}

function firstDifference<T extends object>(expected: readonly T[], found: readonly T[]): T | undefined {
  const length = Math.max(expected.length, found.length)
  for (let at = 0; at < length; at++) {
    const [wanted, has] = [expected[at], found[at]]
    if (wanted === undefined || has === undefined) return wanted ?? has
    // The order of members is not the manifest's concern.
    if (!isDeepStrictEqual(wanted, has)) return wanted
  }
  return undefined
}

/** Rows of COPY's text format: a newline within a value is written as `\n`. */
function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return lines
}
