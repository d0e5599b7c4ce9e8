import { grownColumn, nextCapacity, slotsFor } from './columns.ts'

/** State of one question about (object, relation or permission) within a check. */
export const UNASKED = 0
/** In evaluation further up: asking it again is a cycle. */
export const ACTIVE = 1
/** Answered as long as the open questions that it met are answered by NO. */
export const PROVISIONAL = 2
export const FINAL = 3

const FIRST_CAPACITY = 256

/** The results of one check so far. Reused between checks, so that a check allocates nothing. */
export class CheckMemo {
  verdicts = new Int32Array(FIRST_CAPACITY)
  states = new Int32Array(FIRST_CAPACITY)
  /** Depth of the question itself while it is active, of the highest open question that it met once provisional. */
  depths = new Int32Array(FIRST_CAPACITY)
  /** Start of the path of a granted question. */
  paths = new Int32Array(FIRST_CAPACITY)
  #objects = new Int32Array(FIRST_CAPACITY)
  #members = new Int32Array(FIRST_CAPACITY)
  #slots = new Int32Array(slotsFor(FIRST_CAPACITY))
  /** Check that wrote the slot; slots of earlier checks are empty. */
  #epochs = new Int32Array(this.#slots.length)
  #epoch = 0
  #size = 0

  /** Clears all entries. */
  clear(): void {
    this.#size = 0
    this.#epoch++
    if (this.#epoch < 0x7fffffff) return
    this.#epochs.fill(0)
    this.#epoch = 1
  }

  /** The entry of a question, unasked when it is new. */
  entry(object: number, member: number): number {
    const mask = this.#slots.length - 1
    let slot = (Math.imul(object, 0x9e3779b1) ^ Math.imul(member, 0x85ebca6b)) >>> 7
    for (slot &= mask; this.#epochs[slot] === this.#epoch; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0
      if (this.#objects[entry] === object && this.#members[entry] === member) return entry
    }
    if (this.#size === this.states.length) return this.#grow(object, member)
    this.#slots[slot] = this.#size
    this.#epochs[slot] = this.#epoch
    return this.#add(object, member)
  }

  #add(object: number, member: number): number {
    const entry = this.#size++
    this.#objects[entry] = object
    this.#members[entry] = member
    this.states[entry] = UNASKED
    return entry
  }

  #grow(object: number, member: number): number {
    const capacity = nextCapacity(this.states.length)
    this.verdicts = grownColumn(this.verdicts, capacity, 0)
    this.states = grownColumn(this.states, capacity, 0)
    this.depths = grownColumn(this.depths, capacity, 0)
    this.paths = grownColumn(this.paths, capacity, 0)
    this.#objects = grownColumn(this.#objects, capacity, 0)
    this.#members = grownColumn(this.#members, capacity, 0)
    this.#slots = new Int32Array(slotsFor(capacity))
    this.#epochs = new Int32Array(this.#slots.length)
    const size = this.#size
    this.#size = 0
    this.#epoch = 1
    for (let entry = 0; entry < size; entry++) this.#place(entry)
    this.#size = size
    return this.entry(object, member)
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1
    const hash = Math.imul(this.#objects[entry] ?? 0, 0x9e3779b1) ^ Math.imul(this.#members[entry] ?? 0, 0x85ebca6b)
    let slot = (hash >>> 7) & mask
    while (this.#epochs[slot] === this.#epoch) slot = (slot + 1) & mask
    this.#slots[slot] = entry
    this.#epochs[slot] = this.#epoch
  }
}
