import type { Snapshot } from '../../ports/snapshot.ts'
import { ARCHIVE_LIMITS } from '../archive/format.ts'
import type { SnapshotTable } from './read-catalog.ts'

/** Stored bytes that one statement reads: short enough for others that wait for the same processor. */
const SLICE_BYTES = 2 * 1024 * 1024
/** Bytes of rows that one statement may give: compressed values, or wide ones side by side, have more than is stored. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

const NEWLINE = 0x0a

/** Some rows of a table, at most as many bytes as a piece of the archive unless a single row is longer. */
export interface RowPiece {
  readonly chunks: readonly Buffer[]
  readonly rows: number
}

/** More rows than a page of 32 KiB can have. */
const PAGE_PLACES = 2048

/** Places of rows, from the first to before the last: the page times `PAGE_PLACES`, plus the number of the row in its page. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Reads a table in pieces. A table that one statement reads is in the order of its primary key; a larger one in the order
 * of its pages, range by range. A range whose rows have too many bytes is read in halves, so that neither side holds more
 * than `bytesMax`, or one row, in memory.
 */
export async function* readPieces(
  snapshot: Snapshot,
  table: SnapshotTable,
  bytesMax = ANSWER_BYTES_MAX,
): AsyncGenerator<RowPiece> {
  const answer = (rest: string, max = bytesMax) => snapshot.copyOut(statementOf(table, rest), max)
  const whole = table.bytes <= SLICE_BYTES ? await answer(orderOf(table)) : undefined
  if (whole === undefined) yield* readRanges(table, answer)
  else yield* cutPieces(whole)
}

/** Rows of a condition or order; undefined where they have too many bytes. */
type Answer = (rest: string, bytesMax?: number) => Promise<readonly Buffer[] | undefined>

async function* readRanges({ pages, bytes }: SnapshotTable, answer: Answer): AsyncGenerator<RowPiece> {
  const stepMax = Math.max(1, Math.floor((SLICE_BYTES * pages) / bytes)) * PAGE_PLACES
  let step = stepMax
  for (let from = 0; from < pages * PAGE_PLACES;) {
    const range = { from, to: from + step }
    const rows = await answer(within(range), step === 1 ? Infinity : undefined)
    if (rows === undefined) step = Math.ceil(step / 2)
    else {
      yield* cutPieces(rows)
      from = range.to
      // Wide rows may be few: later ranges become longer again.
      step = Math.min(stepMax, step * 2)
    }
  }
}

function statementOf({ name, columns }: SnapshotTable, rest: string): string {
  return `copy (select ${columns.map(quoted).join(', ')} from ${quoted(name)}${rest}) to stdout`
}

const orderOf = ({ key }: SnapshotTable): string => (key.length === 0 ? '' : ` order by ${key.map(quoted).join(', ')}`)

const within = ({ from, to }: Range): string => ` where ctid >= '${placeOf(from)}' and ctid < '${placeOf(to)}'`

const placeOf = (place: number): string => `(${Math.floor(place / PAGE_PLACES)},${place % PAGE_PLACES})`

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
