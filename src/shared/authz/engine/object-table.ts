import { EMPTY, RowSlots, tagOf } from './row-slots.ts'
import { appendUuid, readUuid, writeUuid } from './uuid-words.ts'

/** Stands for every object without tuples: it never has any. */
export const NO_OBJECT = 0

const TYPE = 0
/** Four of them; unused for ids that are no UUIDs. */
const WORDS = 1
const FIELDS = 5

/** Numbers objects. An id that is a UUID, as nearly all are, takes 16 bytes and a slot; others are kept as strings. */
export class ObjectTable extends RowSlots {
  readonly #named = new Map<string, number>()
  readonly #names = new Map<number, string>()
  readonly #sought = new Int32Array(4)

  /** `extra` fields, from 5 on, are the caller's. */
  constructor(extra = 0) {
    super(FIELDS + extra, NO_OBJECT + 1)
  }

  /** The object of that type whose id is the text from `from` on, or -1. In the present alone. */
  find(type: number, text: string, from: number): number {
    if (!readUuid(text, from, this.#sought)) return this.#named.get(nameKey(type, text.slice(from))) ?? -1
    const { tags, slots } = this
    const mask = tags.length - 1
    const sought = hash(type, this.#sought, 0)
    const tag = tagOf(sought)
    for (let slot = sought & mask; tags[slot] !== EMPTY; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag) continue
      const row = slots[slot] ?? 0
      if (this.#holds(row, type)) return row
    }
    return -1
  }

  /** Numbers an object that is not in the table yet. */
  insert(type: number, id: string): number {
    const row = this.takeRow()
    this.setCell(row, TYPE, type)
    if (readUuid(id, 0, this.#sought)) {
      for (let word = 0; word < 4; word++) this.setCell(row, WORDS + word, this.#sought[word] ?? 0)
      this.place(row)
    } else {
      this.#named.set(nameKey(type, id), row)
      this.#setName(row, id)
    }
    return row
  }

  remove(row: number): void {
    const name = this.#names.get(row)
    if (name === undefined) this.displace(row)
    else {
      this.#named.delete(nameKey(this.typeOf(row), name))
      this.#setName(row, undefined)
    }
    this.releaseRow(row)
  }

  /** Recorded, since objects are named in past states. They are found by name in the present alone. */
  #setName(row: number, name: string | undefined): void {
    const names = this.#names
    const before = names.get(row)
    putName(names, row, name)
    if (this.log?.isOpen !== true) return
    this.log.noteOther(
      () => putName(names, row, before),
      () => putName(names, row, name),
    )
  }

  /** Objects whose ids are no UUIDs. */
  names(): [object: number, id: string][] {
    return [...this.#names]
  }

  /** Takes over what `copyRows` and `names` gave. The table must be new. */
  adopt(rows: Int32Array, names: Iterable<readonly [object: number, id: string]>): void {
    for (const [object, id] of names) {
      this.#names.set(object, id)
      this.#named.set(nameKey(rows[object * this.fields] ?? 0, id), object)
    }
    this.adoptRows(rows)
  }

  /** Index of the object's type. */
  typeOf(row: number): number {
    return this.cell(row, TYPE)
  }

  idOf(row: number): string {
    return this.#names.get(row) ?? writeUuid(this.rows, this.#words(row))
  }

  /** Appends the id in UTF-16 code units. */
  appendId(row: number, units: number[]): void {
    const name = this.#names.get(row)
    if (name === undefined) return appendUuid(this.rows, this.#words(row), units)
    for (let at = 0; at < name.length; at++) units.push(name.charCodeAt(at))
  }

  protected override hashOf(row: number): number {
    return hash(this.typeOf(row), this.rows, this.#words(row))
  }

  protected override isPlaced(row: number): boolean {
    return this.typeOf(row) >= 0 && !this.#names.has(row)
  }

  #words(row: number): number {
    return row * this.fields + WORDS
  }

  #holds(row: number, type: number): boolean {
    const { rows } = this
    const at = this.#words(row)
    return (
      rows[at + 3] === this.#sought[3] &&
      rows[at + 2] === this.#sought[2] &&
      rows[at + 1] === this.#sought[1] &&
      rows[at] === this.#sought[0] &&
      this.typeOf(row) === type
    )
  }
}

function putName(names: Map<number, string>, row: number, name: string | undefined): void {
  if (name === undefined) names.delete(row)
  else names.set(row, name)
}

/** One string for both: a type's index is below the number of UTF-16 units. */
function nameKey(type: number, id: string): string {
  return String.fromCharCode(type) + id
}

function hash(type: number, words: Int32Array, at: number): number {
  let mixed = Math.imul((words[at + 3] ?? 0) ^ type, 0x9e3779b1) ^ Math.imul(words[at + 2] ?? 0, 0x85ebca6b)
  mixed ^= Math.imul((words[at + 1] ?? 0) ^ (words[at] ?? 0), 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}
