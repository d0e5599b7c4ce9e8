import type { CaveatModel } from '../model.ts'

/** What a tuple of an edge depends on. */
export interface Condition {
  /** Undefined for a tuple that only expires. */
  readonly caveat: CaveatModel | undefined
  /** The Domain whose settings the caveat reads; null for the platform's tuples, which have none. */
  readonly domainId: string | null
  /** Values that the tuple itself gives its caveat. */
  readonly context: Readonly<Record<string, unknown>> | undefined
  /** In milliseconds since 1970; `Infinity` for never. */
  readonly expiresAtMs: number
}

/** When an edge holds: any of these suffices. */
export interface Alternatives {
  /** One of the edge's tuples has no condition. */
  readonly unconditional: boolean
  readonly conditions: readonly Condition[]
}

const UNCONDITIONAL: Alternatives = { unconditional: true, conditions: [] }

/**
 * The caveats of edges. Tuples that differ only in their caveat are one edge here, which holds when any of them does.
 * Edges of one tuple without a caveat, nearly all, have no entry.
 */
export class EdgeConditions {
  readonly #byEdge = new Map<number, Alternatives>()

  /** Undefined for an edge that always holds. */
  of(edge: number): Alternatives | undefined {
    return this.#byEdge.get(edge)
  }

  get size(): number {
    return this.#byEdge.size
  }

  /** Starts a new edge with its one tuple. */
  start(edge: number, condition: Condition | undefined): void {
    if (condition !== undefined) this.#byEdge.set(edge, { unconditional: false, conditions: [condition] })
  }

  /** Adds a tuple to an edge; false when it was there. */
  add(edge: number, condition: Condition | undefined): boolean {
    const before = this.#byEdge.get(edge) ?? UNCONDITIONAL
    if (condition === undefined) {
      if (before.unconditional) return false
      this.#byEdge.set(edge, { ...before, unconditional: true })
      return true
    }
    const others = before.conditions.filter(({ caveat }) => caveat !== condition.caveat)
    this.#byEdge.set(edge, { ...before, conditions: [...others, condition] })
    return others.length === before.conditions.length
  }

  /** Takes one tuple from an edge. Whether it was there, and whether the edge is without tuples now. */
  take(edge: number, caveat: CaveatModel | undefined): 'absent' | 'taken' | 'last' {
    const before = this.#byEdge.get(edge) ?? UNCONDITIONAL
    const conditions = before.conditions.filter((condition) => condition.caveat !== caveat)
    const unconditional = before.unconditional && caveat !== undefined
    if (conditions.length === before.conditions.length && unconditional === before.unconditional) return 'absent'
    if (!unconditional && conditions.length === 0) return 'last'
    if (conditions.length === 0) this.#byEdge.delete(edge)
    else this.#byEdge.set(edge, { unconditional, conditions })
    return 'taken'
  }

  forget(edge: number): void {
    this.#byEdge.delete(edge)
  }
}
