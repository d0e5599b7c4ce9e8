import { grownColumn, slotsFor } from '../columns.ts'
import { NONE } from '../edge-chains.ts'
import type { Verdict } from '../verdict.ts'

const FIRST_CAPACITY = 1_024

/** Nodes for which room is kept between walks: about 30 MB. A walk may take more, which it gives back. */
const KEPT_NODES_MAX = 1 << 20

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
  #slots = new Int32Array(slotsFor(FIRST_CAPACITY))
  /** Walk that wrote the slot; slots of earlier walks are empty. */
  #epochs = new Int32Array(this.#slots.length)
  #epoch = 1

  /** Starts a walk. */
  clear(): void {
    if (this.objects.length > KEPT_NODES_MAX) this.#resize(FIRST_CAPACITY)
    this.size = 0
    this.#epoch++
    if (this.#epoch < 0x7fffffff) return
    this.#epochs.fill(0)
    this.#epoch = 1
  }

  /** The node of the object with the relation or permission, or NONE. */
  find(object: number, member: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hash(object, member) & mask; this.#epochs[slot] === this.#epoch; slot = (slot + 1) & mask) {
      const node = this.#slots[slot] ?? 0
      if (this.objects[node] === object && this.members[node] === member) return node
    }
    return NONE
  }

  /** Adds a node that is not there. */
  insert(object: number, member: number, verdict: Verdict): number {
    if (this.size === this.objects.length) this.#grow()
    const node = this.size++
    this.objects[node] = object
    this.members[node] = member
    this.verdicts[node] = verdict
    this.#place(node)
    return node
  }

  #place(node: number): void {
    const mask = this.#slots.length - 1
    let slot = hash(this.objects[node] ?? 0, this.members[node] ?? 0) & mask
    while (this.#epochs[slot] === this.#epoch) slot = (slot + 1) & mask
    this.#slots[slot] = node
    this.#epochs[slot] = this.#epoch
  }

  #grow(): void {
    this.#resize(this.objects.length * 2)
    for (let node = 0; node < this.size; node++) this.#place(node)
  }

  /** Makes room for so many nodes, and empties the slots. */
  #resize(capacity: number): void {
    const kept = Math.min(capacity, this.size)
    this.objects = grownColumn(this.objects.subarray(0, kept), capacity, 0)
    this.members = grownColumn(this.members.subarray(0, kept), capacity, 0)
    this.verdicts = grownColumn(this.verdicts.subarray(0, kept), capacity, 0)
    this.hops = grownColumn(this.hops.subarray(0, kept), capacity, 0)
    this.#slots = new Int32Array(slotsFor(capacity))
    this.#epochs = new Int32Array(this.#slots.length)
    this.#epoch = 1
  }
}

function hash(object: number, member: number): number {
  const mixed = Math.imul(object, 0x9e3779b1) ^ Math.imul(member, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
