import { NONE } from './edge-chains.ts'
import { Rows } from './rows.ts'

const OBJECT = 0
const MEMBER = 1
const NEXT = 2
const FIELDS = 3

/**
 * The sets of objects: an object with one of its relations or permissions. Those of one object are a list that starts in
 * a field of the object, since an object has few of them, a check asks for one after the other, and those that were made
 * together are next to each other in memory: finding one reads no memory that the caller does not need. Lists are as long as a type has
 * relations, and as permissions that are subjects somewhere, at most.
 */
export class SetTable extends Rows {
  readonly #objects: Rows
  readonly #first: number

  /** Lists start in the field `first` of `objects`; `extra` fields, from 3 on, are the caller's. */
  constructor(objects: Rows, { first, extra }: { readonly first: number; readonly extra: number }) {
    super(FIELDS + extra, 0)
    this.#objects = objects
    this.#first = first
  }

  /** The set of the object and its relation or permission, or NONE. */
  find(object: number, member: number): number {
    const { rows, fields } = this
    let set = object < 0 ? NONE : this.#objects.cell(object, this.#first)
    while (set >= 0 && rows[set * fields + MEMBER] !== member) set = rows[set * fields + NEXT] ?? NONE
    return set
  }

  /** Adds a set that is not in the table yet. */
  insert(object: number, member: number): number {
    const set = this.takeRow()
    this.setCell(set, OBJECT, object)
    this.setCell(set, MEMBER, member)
    this.setCell(set, NEXT, this.#objects.cell(object, this.#first))
    this.#objects.setCell(object, this.#first, set)
    return set
  }

  remove(set: number): void {
    const object = this.objectOf(set)
    const next = this.cell(set, NEXT)
    let before = this.#objects.cell(object, this.#first)
    if (before === set) this.#objects.setCell(object, this.#first, next)
    else {
      while (this.cell(before, NEXT) !== set) before = this.cell(before, NEXT)
      this.setCell(before, NEXT, next)
    }
    this.releaseRow(set)
  }

  /** Takes over what `copyRows` gave, beside the rows of the objects. The table must be new. */
  adopt(rows: Int32Array): void {
    this.adoptRows(rows)
  }

  objectOf(set: number): number {
    return this.cell(set, OBJECT)
  }

  /** Number of the relation or permission. */
  memberOf(set: number): number {
    return this.cell(set, MEMBER)
  }
}
