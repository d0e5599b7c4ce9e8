import { grownColumn } from '../columns.ts'
import { NONE } from '../edge-chains.ts'
import type { Verdict } from '../verdict.ts'

const FIRST_CAPACITY = 1_024

/** Nodes for which room is kept between walks: about 30 MB. A walk may take more, which it gives back. */
const KEPT_NODES_MAX = 1 << 20

/**
 * Parts of the hash table. Each grows by itself: among a million nodes that takes less than a millisecond, where the whole
 * table would hold the event loop for 25 ms.
 */
const PARTS = 64
const PART_SHIFT = 26
const FIRST_SLOTS = 32

/** The nodes whose hashes begin with the same bits. */
interface Part {
  slots: Int32Array
  /** Walk that wrote the slot; slots of earlier walks are empty. */
  epochs: Int32Array
  /** Nodes in it, of the walk `epoch`. */
  size: number
  epoch: number
}

/**
 * Objects with what a walk found on them, numbered in that order. Kept between walks, so that one allocates nothing: what
 * walks throw away, the collector must find, and that takes many times longer than the walk.
 */
export class WalkNodes {
  size = 0
  /** Columns by node. */
  objects = new Int32Array(FIRST_CAPACITY)
  members = new Int32Array(FIRST_CAPACITY)
  verdicts = new Int32Array(FIRST_CAPACITY)
  /** Tuples on the way to the node. */
  hops = new Int32Array(FIRST_CAPACITY)
  #parts = emptyParts()
  #epoch = 1

  /** Starts a walk. */
  clear(): void {
    const isLarge = this.objects.length > KEPT_NODES_MAX
    this.size = 0
    this.#epoch++
    if (isLarge) this.#resize(FIRST_CAPACITY)
    if (!isLarge && this.#epoch < 0x7fffffff) return
    this.#parts = emptyParts()
    this.#epoch = 1
  }

  /** The node of the object with the relation or permission, or NONE. */
  find(object: number, member: number): number {
    const hashed = hash(object, member)
    const part = this.#parts[hashed >>> PART_SHIFT]
    if (part === undefined) return NONE
    const { slots, epochs } = part
    const mask = slots.length - 1
    for (let slot = hashed & mask; epochs[slot] === this.#epoch; slot = (slot + 1) & mask) {
      const node = slots[slot] ?? 0
      if (this.objects[node] === object && this.members[node] === member) return node
    }
    return NONE
  }

  /** Adds a node that is not there. */
  insert(object: number, member: number, verdict: Verdict): number {
    if (this.size === this.objects.length) this.#resize(this.size * 2)
    const node = this.size++
    this.objects[node] = object
    this.members[node] = member
    this.verdicts[node] = verdict
    this.#place(node)
    return node
  }

  #place(node: number): void {
    const hashed = this.#hashOf(node)
    const part = this.#parts[hashed >>> PART_SHIFT]
    if (part === undefined) return
    if (part.epoch !== this.#epoch) {
      part.epoch = this.#epoch
      part.size = 0
    }
    if (++part.size * 4 > part.slots.length * 3) this.#growPart(part)
    this.#put(part, hashed, node)
  }

  #put({ slots, epochs }: Part, hashed: number, node: number): void {
    const mask = slots.length - 1
    let slot = hashed & mask
    while (epochs[slot] === this.#epoch) slot = (slot + 1) & mask
    slots[slot] = node
    epochs[slot] = this.#epoch
  }

  #growPart(part: Part): void {
    const { slots, epochs } = part
    part.slots = new Int32Array(slots.length * 2)
    part.epochs = new Int32Array(slots.length * 2)
    for (const [slot, node] of slots.entries()) {
      if (epochs[slot] === this.#epoch) this.#put(part, this.#hashOf(node), node)
    }
  }

  #hashOf(node: number): number {
    return hash(this.objects[node] ?? 0, this.members[node] ?? 0)
  }

  /** Makes room for so many nodes. */
  #resize(capacity: number): void {
    const kept = Math.min(capacity, this.size)
    this.objects = grownColumn(this.objects.subarray(0, kept), capacity, 0)
    this.members = grownColumn(this.members.subarray(0, kept), capacity, 0)
    this.verdicts = grownColumn(this.verdicts.subarray(0, kept), capacity, 0)
    this.hops = grownColumn(this.hops.subarray(0, kept), capacity, 0)
  }
}

function emptyParts(): Part[] {
  return Array.from({ length: PARTS }, () => ({
    slots: new Int32Array(FIRST_SLOTS),
    epochs: new Int32Array(FIRST_SLOTS),
    size: 0,
    epoch: 0,
  }))
}

function hash(object: number, member: number): number {
  const mixed = Math.imul(object, 0x9e3779b1) ^ Math.imul(member, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
