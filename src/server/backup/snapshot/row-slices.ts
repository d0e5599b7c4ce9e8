import type { Snapshot } from '../../ports/snapshot.ts'
import { ARCHIVE_LIMITS } from '../archive/format.ts'
import type { SnapshotTable } from './read-catalog.ts'

/** Stored bytes that one statement reads: short enough for others that wait for the same processor. */
const SLICE_BYTES = 2 * 1024 * 1024

const NEWLINE = 0x0a

/** Some rows of a table, at most as many bytes as a piece of the archive unless a single row is longer. */
export interface RowPiece {
  readonly chunks: readonly Buffer[]
  readonly rows: number
}

/**
 * Reads a table in pieces. A table that one statement reads is in the order of its primary key; a larger one in the order
 * of its pages, range by range, so that neither side holds more than one range in memory.
 */
export async function* readPieces(snapshot: Snapshot, table: SnapshotTable): AsyncGenerator<RowPiece> {
  for (const text of slicesOf(table)) yield* cutPieces(await snapshot.copyOut(text))
}

/** Statements that together read every row once. */
export function slicesOf({ name, columns, key, pages, bytes }: SnapshotTable): readonly string[] {
  const selected = `select ${columns.map(quoted).join(', ')} from ${quoted(name)}`
  if (bytes <= SLICE_BYTES) {
    const order = key.length === 0 ? '' : ` order by ${key.map(quoted).join(', ')}`
    return [`copy (${selected}${order}) to stdout`]
  }
  const step = Math.max(1, Math.floor((SLICE_BYTES * pages) / bytes))
  const slices: string[] = []
  for (let from = 0; from < pages; from += step)
    slices.push(`copy (${selected} where ctid >= '(${from},0)' and ctid < '(${from + step},0)') to stdout`)
  return slices
}

/** Cuts between rows. Each row ends in a line feed; one within a value is escaped. */
export function* cutPieces(chunks: readonly Buffer[], bytesMax = ARCHIVE_LIMITS.pieceBytes): Generator<RowPiece> {
  let piece: Buffer[] = []
  let bytes = 0
  let rows = 0
  for (const chunk of chunks) {
    if (bytes > 0 && bytes + chunk.length > bytesMax && piece.at(-1)?.at(-1) === NEWLINE) {
      yield { chunks: piece, rows }
      piece = []
      bytes = 0
      rows = 0
    }
    piece.push(chunk)
    bytes += chunk.length
    rows += linesIn(chunk)
  }
  if (bytes > 0) yield { chunks: piece, rows }
}

function linesIn(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

/** A table that was found in the catalogue may have any name. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
