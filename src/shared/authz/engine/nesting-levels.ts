import { nextCapacity } from './columns.ts'
import { NONE } from './edge-chains.ts'
import type { PairTable } from './pair-table.ts'
import type { SubjectChains } from './subject-chains.ts'

/** Levels from here on, and sets that contain themselves, count alike. */
const LEVEL_MAX = 64

/** What is read of the index that the levels belong to. */
interface Nesting {
  readonly edges: PairTable
  readonly bySubject: SubjectChains
  firstNestingOfSet(set: number): number
}

/**
 * Upper bound of the nesting depth below each set. A level rises with what is put below it and falls once nothing is
 * left there, so that it may stay too high, never too low.
 */
export class NestingLevels {
  readonly #index: Nesting
  /** By set, as far as any contains another one. */
  #levels = new Uint8Array(0)
  #highest = 0

  constructor(index: Nesting) {
    this.#index = index
  }

  /** The highest level of any set so far. */
  get highest(): number {
    return this.#highest
  }

  get bytes(): number {
    return this.#levels.byteLength
  }

  /** Records that the set contains no set any more. */
  clear(set: number): void {
    if (set < this.#levels.length) this.#levels[set] = 0
  }

  /** Records that one set contains another one. */
  nest(outer: number, inner: number): void {
    this.#raise(outer, Math.min(LEVEL_MAX, this.#level(inner) + 1))
  }

  #level(set: number): number {
    return this.#levels[set] ?? 0
  }

  /** Ends in rings too: every step rises, and none beyond the highest level. */
  #raise(set: number, level: number): void {
    if (this.#level(set) >= level) return
    this.#grow(set)
    this.#levels[set] = level
    this.#highest = Math.max(this.#highest, level)
    const { edges, bySubject } = this.#index
    const above = Math.min(LEVEL_MAX, level + 1)
    for (let edge = this.#index.firstNestingOfSet(set); edge !== NONE; edge = bySubject.nextNesting(edge)) {
      this.#raise(edges.a(edge), above)
    }
  }

  #grow(set: number): void {
    if (set < this.#levels.length) return
    const grown = new Uint8Array(nextCapacity(set + 1))
    grown.set(this.#levels)
    this.#levels = grown
  }
}
