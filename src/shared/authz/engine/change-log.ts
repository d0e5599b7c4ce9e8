import { grownColumn } from './columns.ts'

/** Where the index keeps integers. */
type Cells = Int32Array | Uint32Array | Uint8Array

/** A state of the index that is still needed. */
export interface Moment {
  /** Changes that were recorded before it and are still in the log. */
  changes: number
  /** Whether too much has changed since: the state cannot be restored any more. */
  isLost: boolean
}

/** A column whose changes are recorded. */
export interface RecordedColumn {
  /** Records a change of one place, where the log is open. */
  note(place: number, before: number, after: number): void
}

/** A change of something else than an integer. */
interface OtherChange {
  readonly undo: () => void
  readonly redo: () => void
}

/** In the place of a column: the change is one of the others. */
const OTHER = -1

// What a change takes in the log.
const FIELDS = 4
const COLUMN = 0
const PLACE = 1
const BEFORE = 2
const AFTER = 3

const FIRST_CAPACITY = 1_024

/** Changes for which room is kept while no state is needed. */
const KEPT_CHANGES_MAX = 1 << 16

/**
 * Changes that are recorded: those of about 12,000 tuples. Undoing and redoing them takes about 5 ms, which is part of
 * every slice.
 */
const CHANGES_MAX = 300_000

/**
 * What was changed since states that are still needed, as integers before and after. It puts the index back into such a state
 * while work runs, and forward again before anything else does: nobody else sees the old state, and nothing is copied. While
 * no state is needed, nothing is recorded.
 */
export class ChangeLog {
  /** Whether changes must be recorded. */
  isOpen = false
  readonly #columns: (() => Cells)[] = []
  readonly #moments = new Set<Moment>()
  readonly #max: number
  #entries = new Int32Array(FIRST_CAPACITY * FIELDS)
  #length = 0
  #others: OtherChange[] = []
  /** Other changes that were recorded before the first of `#others`. */
  #othersBefore = 0
  #isPast = false

  /** Keeps at most `max` changes. */
  constructor(max = CHANGES_MAX) {
    this.#max = max
  }

  /** Changes that are recorded. */
  get size(): number {
    return this.#length
  }

  /** Adds a column. `cells` is what it is at the time; places keep their meaning when it grows. */
  column(cells: () => Cells): RecordedColumn {
    const column = this.#columns.push(cells) - 1
    return {
      note: (place, before, after) => {
        if (!this.isOpen) return
        const at = this.#roomFor(column, place)
        this.#entries[at + BEFORE] = before
        this.#entries[at + AFTER] = after
        this.#added()
      },
    }
  }

  /** Records a change that these functions undo and make again, where the log is open. */
  noteOther(undo: () => void, redo: () => void): void {
    if (!this.isOpen) return
    this.#others.push({ undo, redo })
    this.#roomFor(OTHER, this.#othersBefore + this.#others.length - 1)
    this.#added()
  }

  /** Names the present state. To be closed. */
  open(): Moment {
    const moment = { changes: this.#length, isLost: false }
    this.#moments.add(moment)
    this.isOpen = true
    return moment
  }

  /** The state is not needed any more. */
  close(moment: Moment): void {
    if (this.#moments.delete(moment)) this.#trim()
  }

  /** Runs the work in the state of the moment. It must not wait, and must not change tuples. @throws Error for a lost moment. */
  at(moment: Moment, work: () => void): void {
    if (moment.isLost || this.#isPast) throw new Error('the state cannot be restored')
    const from = moment.changes
    this.#isPast = true
    this.#undo(from)
    try {
      work()
    } finally {
      this.#redo(from)
      this.#isPast = false
    }
  }

  /** Where the next change is put. */
  #roomFor(column: number, place: number): number {
    if (this.#isPast) throw new Error('tuples cannot be changed in a past state')
    const at = this.#length * FIELDS
    if (at === this.#entries.length) this.#entries = grownColumn(this.#entries, at * 2, 0)
    this.#entries[at + COLUMN] = column
    this.#entries[at + PLACE] = place
    return at
  }

  #added(): void {
    this.#length++
    if (this.#length < this.#max) return
    const oldest = this.#oldest()
    for (const moment of this.#moments) {
      if (moment.changes > oldest) continue
      moment.isLost = true
      this.#moments.delete(moment)
    }
    this.#trim()
  }

  #oldest(): number {
    let oldest = this.#length
    for (const { changes } of this.#moments) oldest = Math.min(oldest, changes)
    return oldest
  }

  /** Removes what no moment needs. */
  #trim(): void {
    this.isOpen = this.#moments.size > 0
    const unneeded = this.#oldest()
    if (unneeded === 0) return
    let others = 0
    for (let change = 0; change < unneeded; change++) {
      if (this.#entries[change * FIELDS + COLUMN] === OTHER) others++
    }
    this.#others = this.#others.slice(others)
    this.#othersBefore += others
    this.#entries.copyWithin(0, unneeded * FIELDS, this.#length * FIELDS)
    this.#length -= unneeded
    for (const moment of this.#moments) moment.changes -= unneeded
    if (!this.isOpen && this.#entries.length > KEPT_CHANGES_MAX * FIELDS) {
      this.#entries = new Int32Array(FIRST_CAPACITY * FIELDS)
    }
  }

  #undo(from: number): void {
    let columns = this.#present()
    for (let change = this.#length - 1; change >= from; change--) {
      if (this.#put(columns, change * FIELDS, BEFORE)) continue
      this.#other(change)?.undo()
      columns = this.#present()
    }
  }

  #redo(from: number): void {
    let columns = this.#present()
    for (let change = from; change < this.#length; change++) {
      if (this.#put(columns, change * FIELDS, AFTER)) continue
      this.#other(change)?.redo()
      columns = this.#present()
    }
  }

  /** Puts one integer; false where the change is another one. */
  #put(columns: readonly Cells[], at: number, field: typeof BEFORE | typeof AFTER): boolean {
    const cells = columns[this.#entries[at + COLUMN] ?? OTHER]
    if (cells === undefined) return false
    cells[this.#entries[at + PLACE] ?? 0] = this.#entries[at + field] ?? 0
    return true
  }

  #other(change: number): OtherChange | undefined {
    return this.#others[(this.#entries[change * FIELDS + PLACE] ?? 0) - this.#othersBefore]
  }

  #present(): Cells[] {
    return this.#columns.map((cells) => cells())
  }
}
