import type { CaveatModel } from '../model.ts'
import type { ChangeLog, RecordedColumn } from './change-log.ts'
import { grownColumn } from './columns.ts'
import { ImageError, type ConditionImage, type EdgeImage } from './index-image.ts'

/** The condition of a tuple of an edge. */
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

/** A condition together with the revision of its tuple. */
interface HeldCondition extends Condition {
  readonly revision: number
}

/** When an edge holds: any of these suffices. */
export interface Alternatives {
  /** One of the edge's tuples has no condition. */
  readonly unconditional: boolean
  /** Revision of that tuple; `Infinity` where there is none. */
  readonly revision: number
  readonly conditions: readonly HeldCondition[]
}

const UNBOUND: Alternatives = { unconditional: false, revision: Infinity, conditions: [] }

/** The condition that one tuple adds to its edge. */
export interface Binding {
  readonly condition: Condition | undefined
  readonly revision: number
}

/**
 * The caveats and revisions of edges. Tuples that differ only in their caveat are one edge here, which holds when any of
 * them does; a tuple replaces the one of the same caveat, or the other without one. Edges of one tuple without a
 * condition, nearly all, have no entry.
 */
export class EdgeConditions {
  readonly #byEdge = new Map<number, Alternatives>()
  /** By edge: the lowest revision among its tuples. */
  #revisions = new Uint32Array(0)
  #log: ChangeLog | undefined
  #column: RecordedColumn | undefined

  /** Records changes in the log from now on. */
  recordIn(log: ChangeLog): void {
    this.#log = log
    this.#column = log.column(() => this.#revisions)
  }

  /** Undefined for an edge that always holds. */
  of(edge: number): Alternatives | undefined {
    return this.#byEdge.size === 0 ? undefined : this.#byEdge.get(edge)
  }

  get size(): number {
    return this.#byEdge.size
  }

  /** Memory that the revisions take. */
  get bytes(): number {
    return this.#revisions.byteLength
  }

  /** Tuples that share their edge with another one. */
  get extraTuples(): number {
    let extra = 0
    for (const alternatives of this.#byEdge.values()) extra += sizeOf(alternatives) - 1
    return extra
  }

  /** Lowest revision among the edge's tuples. */
  firstRevision(edge: number): number {
    return this.#revisions[edge] ?? 0
  }

  /** Starts a new edge with its one tuple. */
  start(edge: number, { condition, revision }: Binding): void {
    this.#setRevision(edge, revision)
    if (condition === undefined) return
    this.#setAlternatives(edge, { ...UNBOUND, conditions: [{ ...condition, revision }] })
  }

  /** Adds a tuple to an edge; false when it existed. */
  add(edge: number, binding: Binding): boolean {
    const after = withBinding(this.#before(edge), binding)
    if (after !== undefined) this.#set(edge, after)
    return after !== undefined
  }

  /** Removes one tuple from an edge. Returns whether it existed, and whether the edge has no tuples now. */
  take(edge: number, caveat: CaveatModel | undefined): 'absent' | 'taken' | 'last' {
    const before = this.#before(edge)
    const after = without(before, caveat)
    if (sizeOf(after) === sizeOf(before)) return 'absent'
    if (sizeOf(after) === 0) return 'last'
    this.#set(edge, after)
    return 'taken'
  }

  forget(edge: number): void {
    if (this.#byEdge.has(edge)) this.#setAlternatives(edge, undefined)
  }

  /** A copy of the columns for the given number of edges. */
  image(edges: number): { readonly revisions: Uint32Array; readonly conditions: EdgeImage[] } {
    return { revisions: this.#revisions.slice(0, edges), conditions: Array.from(this.#byEdge, edgeImage) }
  }

  /** Takes over what `image` gave. Must be new. @throws ImageError for a caveat that there is not. */
  adopt(revisions: Uint32Array, conditions: readonly EdgeImage[], caveats: ReadonlyMap<string, CaveatModel>): void {
    this.#revisions = revisions.slice()
    for (const { edge, plain, conditions: held } of conditions) {
      const { unconditional, revision } = plain === undefined ? UNBOUND : { unconditional: true, revision: plain }
      this.#byEdge.set(edge, { unconditional, revision, conditions: held.map((each) => heldCondition(each, caveats)) })
    }
  }

  grow(capacity: number): void {
    if (capacity > this.#revisions.length) this.#revisions = grownColumn(this.#revisions, capacity, 0)
  }

  #before(edge: number): Alternatives {
    return this.#byEdge.get(edge) ?? { unconditional: true, revision: this.firstRevision(edge), conditions: [] }
  }

  #set(edge: number, after: Alternatives): void {
    const { revision: plain, conditions } = after
    this.#setRevision(edge, Math.min(plain, ...conditions.map(({ revision }) => revision)))
    this.#setAlternatives(edge, conditions.length === 0 ? undefined : after)
  }

  #setRevision(edge: number, revision: number): void {
    if (this.#log?.isOpen === true) this.#column?.note(edge, this.#revisions[edge] ?? 0, revision)
    this.#revisions[edge] = revision
  }

  #setAlternatives(edge: number, after: Alternatives | undefined): void {
    const byEdge = this.#byEdge
    const before = byEdge.get(edge)
    putAlternatives(byEdge, edge, after)
    if (this.#log?.isOpen !== true) return
    this.#log.noteOther(
      () => putAlternatives(byEdge, edge, before),
      () => putAlternatives(byEdge, edge, after),
    )
  }
}

function putAlternatives(byEdge: Map<number, Alternatives>, edge: number, held: Alternatives | undefined): void {
  if (held === undefined) byEdge.delete(edge)
  else byEdge.set(edge, held)
}

function sizeOf({ unconditional, conditions }: Alternatives): number {
  return conditions.length + Number(unconditional)
}

/** The conditions without the tuple of that caveat. */
function without(before: Alternatives, caveat: CaveatModel | undefined): Alternatives {
  const { unconditional, revision } = caveat === undefined ? UNBOUND : before
  return { unconditional, revision, conditions: before.conditions.filter((each) => each.caveat !== caveat) }
}

/** With the tuple in place of the one of its caveat; undefined when that one says the same. */
function withBinding(before: Alternatives, { condition, revision }: Binding): Alternatives | undefined {
  const others = without(before, condition?.caveat)
  if (condition === undefined) {
    const isThere = before.unconditional && before.revision === revision
    return isThere ? undefined : { ...others, unconditional: true, revision }
  }
  const held = { ...condition, revision }
  const same = before.conditions.find(({ caveat }) => caveat === condition.caveat)
  if (same !== undefined && isSame(same, held)) return undefined
  return { ...others, conditions: [...others.conditions, held] }
}

function isSame(a: HeldCondition, b: HeldCondition): boolean {
  if (a.revision !== b.revision || a.expiresAtMs !== b.expiresAtMs || a.domainId !== b.domainId) return false
  return a.context === b.context || JSON.stringify(a.context) === JSON.stringify(b.context)
}

function edgeImage([edge, { unconditional, revision: plain, conditions }]: [number, Alternatives]): EdgeImage {
  const held = conditions.map(({ caveat, domainId, context, expiresAtMs, revision }): ConditionImage => {
    const until = expiresAtMs === Infinity ? {} : { expiresAtMs }
    return { ...(caveat && { caveat: caveat.name }), domainId, ...(context && { context }), ...until, revision }
  })
  return { edge, ...(unconditional && { plain }), conditions: held }
}

function heldCondition(image: ConditionImage, caveats: ReadonlyMap<string, CaveatModel>): HeldCondition {
  const { caveat: name, domainId, context, expiresAtMs = Infinity, revision } = image
  const caveat = name === undefined ? undefined : caveats.get(name)
  if (name !== undefined && caveat === undefined) throw new ImageError(`there is no caveat "${name}"`)
  return { caveat, domainId, context, expiresAtMs, revision }
}
