import type { ChangeLog, RecordedColumn } from './change-log.ts'
import { grownColumn, nextCapacity } from './columns.ts'

const FIRST_CAPACITY = 16

/** What the fields of rows out of use hold. */
const BLANK = -1

/**
 * Gives out row numbers: the common part of the tables of the index. A row is a run of integer fields, next to each other
 * so that one step of a check touches one cache line. Numbers of removed rows are used again.
 */
export abstract class Rows {
  /** Rows that fit before the table must grow. */
  capacity = FIRST_CAPACITY
  /** Rows in use. */
  size = 0
  /** Fields of a row. The first is -1 in rows out of use and never in others. */
  protected readonly fields: number
  protected rows: Int32Array
  /** Rows below it are never given out. */
  protected readonly reserved: number
  /** Rows from here on were never given out. */
  protected used: number
  /** Where changes are recorded while a state before them is needed. */
  protected log: ChangeLog | undefined
  #column: RecordedColumn | undefined
  readonly #removed: number[] = []

  constructor(fields: number, reserved: number) {
    this.fields = fields
    this.rows = new Int32Array(FIRST_CAPACITY * fields).fill(BLANK)
    this.reserved = reserved
    this.used = reserved
  }

  /** Memory that the table takes, without what it keeps of rows to be used again. */
  get bytes(): number {
    return this.rows.byteLength
  }

  cell(row: number, field: number): number {
    return this.rows[row * this.fields + field] ?? BLANK
  }

  setCell(row: number, field: number, value: number): void {
    const at = row * this.fields + field
    if (this.log?.isOpen === true) this.#noteCell(at, value)
    this.rows[at] = value
  }

  /** Records changes in the log from now on. Which rows are in use is not recorded: rows are given out in the present alone. */
  recordIn(log: ChangeLog): void {
    this.log = log
    this.#column = log.column(() => this.rows)
  }

  /** A copy of all rows, in use or not. */
  copyRows(): Int32Array {
    return this.rows.slice(0, this.used * this.fields)
  }

  /** How many rows a copy holds. */
  rowsOf(copy: Int32Array): number {
    return copy.length / this.fields
  }

  /** Takes over what `copyRows` gave. The table must be new. */
  protected adoptRows(rows: Int32Array): void {
    this.used = Math.max(this.reserved, this.rowsOf(rows))
    this.#resize(nextCapacity(this.used), rows)
    for (let row = this.reserved; row < this.used; row++) {
      if (this.cell(row, 0) === BLANK) this.#removed.push(row)
    }
    this.size = this.used - this.reserved - this.#removed.length
  }

  /** A row whose fields are all -1. */
  protected takeRow(): number {
    this.size++
    const row = this.#removed.pop()
    if (row !== undefined) return row
    if (this.used === this.capacity) this.grow()
    return this.used++
  }

  protected releaseRow(row: number): void {
    this.size--
    for (let field = 0; field < this.fields; field++) this.setCell(row, field, BLANK)
    this.#removed.push(row)
  }

  #noteCell(at: number, value: number): void {
    const before = this.rows[at] ?? BLANK
    if (before !== value) this.#column?.note(at, before, value)
  }

  /** Makes room for more rows. */
  protected grow(): void {
    this.#resize(nextCapacity(this.capacity), this.rows)
  }

  #resize(capacity: number, rows: Int32Array): void {
    this.capacity = capacity
    this.rows = grownColumn(rows, capacity * this.fields, BLANK)
  }
}
