import type { TypeModel } from '../../model.ts'
import { HOPS_MAX, UndecidableError, type Checker, type ConditionVerdict, type Question } from '../checker.ts'
import { NONE } from '../edge-chains.ts'
import { NO_OBJECT } from '../object-table.ts'
import { PairTable } from '../pair-table.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import { edgeVerdict } from './edge-verdict.ts'
import type { ArrowTable, Dependent, ReverseGraph } from './reverse-graph.ts'

/** What a walk runs over. */
export interface Walked {
  readonly index: TupleIndex
  readonly checker: Checker
  readonly graph: ReverseGraph
}

/** Who asks for what: a question without its resource. */
export type Asker = Omit<Question, 'resource'>

/**
 * Objects by number: `granted` for certain, `conditional` where it depends on what nobody gave. None is in both.
 */
export interface FoundObjects {
  readonly granted: readonly number[]
  readonly conditional: readonly number[]
}

/**
 * Finds every object on which the subject has what is asked, from the subject upwards: along the edges that it is in, the
 * sets and parents that those lead to, and the permissions that rest on them. Everything on the way is visited once, or
 * twice where it is first found conditionally. What intersects or excludes is settled by a check where it is met, so that
 * all beyond it is certain again.
 */
export class ResourceWalk {
  readonly #walked: Walked
  readonly #asker: Asker
  readonly #holds: ConditionVerdict
  /** Relations and permissions from which the asked one can follow. */
  readonly #leads: Uint8Array
  /** Objects with what the subject has on them; columns by row. */
  readonly #nodes = new PairTable()
  readonly #verdicts: Verdict[] = []
  /** Objects with permissions that a check was asked about. */
  readonly #checked = new PairTable()
  readonly #hopsTo: number[] = []
  /** Rows to go on from, in the order in which they were found, so that each is reached by as few hops as can be. */
  readonly #certain: number[] = []
  readonly #possible: number[] = []
  /** Of the step in hand: how far the subject gets with it, and tuples on the way so far. */
  #verdict: Verdict = YES
  #hops = 0

  constructor(walked: Walked, asker: Asker, holds: ConditionVerdict) {
    this.#walked = walked
    this.#asker = asker
    this.#holds = holds
    this.#leads = walked.graph.leadsTo(asker.asked)
  }

  /** @throws UndecidableError */
  run(): FoundObjects {
    this.#start(this.#asker)
    for (let at = 0, later = 0; at < this.#certain.length || later < this.#possible.length;) {
      if (at < this.#certain.length) this.#goOn(this.#certain[at++] ?? NONE, YES)
      else this.#goOnPossibly(this.#possible[later++] ?? NONE)
    }
    return { granted: this.#found(YES), conditional: this.#found(UNKNOWN) }
  }

  #start({ subject, subjectType, userset }: Asker): void {
    if (userset === undefined) this.#startObject(subject, subjectType)
    else if (subject > NO_OBJECT) this.#reach(subject, userset.id, YES)
  }

  #startObject(subject: number, type: TypeModel): void {
    const { index, graph } = this.#walked
    const everyone = index.wildcard(type)
    if (everyone !== NONE) this.#along(index.firstEdgeOfObject(everyone))
    if (subject <= NO_OBJECT) return
    this.#along(index.firstEdgeOfObject(subject))
    for (const self of graph.selves[type.index] ?? []) this.#follow(self, subject, YES)
  }

  /** Reaches the sets that a subject's list of edges leads to. */
  #along(first: number): void {
    const { index } = this.#walked
    for (let edge = first; edge !== NONE; edge = index.bySubject.next(edge)) {
      const set = index.edges.a(edge)
      const member = index.sets.b(set)
      if (this.#leads[member] === 1) this.#reach(index.sets.a(set), member, this.#through(edge))
    }
  }

  /** How far the subject gets beyond an edge of the step in hand. */
  #through(edge: number): Verdict {
    return Math.min(this.#verdict, edgeVerdict(this.#walked.index, edge, this.#holds))
  }

  /** Notes that the subject has the relation or permission on the object. */
  #reach(object: number, member: number, verdict: Verdict): void {
    if (verdict < UNKNOWN || this.#leads[member] === 0) return
    let node = this.#nodes.find(object, member)
    if (node === NONE) node = this.#nodes.insert(object, member)
    else if ((this.#verdicts[node] ?? NO) >= verdict) return
    if (this.#hops > HOPS_MAX) throw new UndecidableError(`nested deeper than ${HOPS_MAX} tuples`)
    this.#verdicts[node] = verdict
    this.#hopsTo[node] = this.#hops
    if (verdict === YES) this.#certain.push(node)
    else this.#possible.push(node)
  }

  #goOnPossibly(node: number): void {
    if (this.#verdicts[node] === UNKNOWN) this.#goOn(node, UNKNOWN)
  }

  #goOn(node: number, verdict: Verdict): void {
    const { index, graph } = this.#walked
    const object = this.#nodes.a(node)
    const member = this.#nodes.b(node)
    this.#verdict = verdict
    this.#hops = this.#hopsTo[node] ?? 0
    for (const dependent of graph.local[member] ?? []) this.#follow(dependent, object, verdict)
    this.#hops++
    if (index.isSubjectKind(member)) {
      const set = index.sets.find(object, member)
      if (set !== NONE) this.#along(index.firstEdgeOfSet(set))
    }
    const arrows = graph.arrows[member]
    if (arrows !== undefined) this.#followArrows(object, arrows)
  }

  #followArrows(object: number, arrows: ArrowTable): void {
    const { index, graph } = this.#walked
    this.#alongArrows(index.firstEdgeOfObject(object), arrows)
    for (const { id } of graph.followedSets[index.objects.typeOf(object)] ?? []) {
      const set = index.sets.find(object, id)
      if (set !== NONE) this.#alongArrows(index.firstEdgeOfSet(set), arrows)
    }
  }

  /** Follows edges backwards that an arrow follows forwards. */
  #alongArrows(first: number, arrows: ArrowTable): void {
    const { index } = this.#walked
    for (let edge = first; edge !== NONE; edge = index.bySubject.next(edge)) {
      const set = index.edges.a(edge)
      const dependents = arrows[index.sets.b(set)]
      if (dependents === undefined) continue
      const verdict = this.#through(edge)
      for (const dependent of dependents) this.#follow(dependent, index.sets.a(set), verdict)
    }
  }

  #follow({ permission, isCertain }: Dependent, object: number, verdict: Verdict): void {
    if (verdict < UNKNOWN || this.#leads[permission.id] === 0) return
    if (isCertain) this.#reach(object, permission.id, verdict)
    else if (this.#isOpen(object, permission.id)) {
      const asked = { ...this.#asker, asked: permission, resource: object }
      this.#reach(object, permission.id, this.#walked.checker.check(asked, this.#holds, false))
    }
  }

  /** Whether a check can tell something new, and notes that it is being asked. */
  #isOpen(object: number, member: number): boolean {
    const node = this.#nodes.find(object, member)
    if (node !== NONE && this.#verdicts[node] === YES) return false
    const asked = this.#checked.find(object, member)
    if (asked === NONE) this.#checked.insert(object, member)
    return asked === NONE
  }

  #found(verdict: Verdict): number[] {
    const found: number[] = []
    for (let node = 0; node < this.#nodes.size; node++) {
      if (this.#verdicts[node] !== verdict || this.#nodes.b(node) !== this.#asker.asked.id) continue
      found.push(this.#nodes.a(node))
    }
    return found
  }
}
