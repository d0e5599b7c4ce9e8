import type { TypeModel } from '../../model.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict, Question } from '../question.ts'
import { HOPS_MAX, UndecidableError } from '../undecidable.ts'
import { NONE } from '../edge-chains.ts'
import { NO_OBJECT } from '../object-table.ts'
import { Pace, STEP_ENTRIES, type Steps } from '../../../steps.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import { edgeVerdict } from './edge-verdict.ts'
import { NodeQueue } from './node-queue.ts'
import { NumberList } from './number-list.ts'
import type { ArrowTable, Dependent, ReverseGraph } from './reverse-graph.ts'
import { WalkNodes } from './walk-nodes.ts'

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
  readonly granted: Int32Array
  readonly conditional: Int32Array
}

/** How much a walk may find and do. Positive whole numbers. */
export interface WalkBounds {
  /** Objects found, conditional ones included. */
  readonly objects: number
  /** Tuples looked at. A check counts as `CHECK_TUPLES`. */
  readonly tuples: number
}

const UNBOUNDED: WalkBounds = { objects: Infinity, tuples: Infinity }

/** One list of edges to go along. */
interface EdgeList {
  readonly first: number
  /** Where the edges are followed backwards, as arrows follow them forwards. */
  readonly arrows: ArrowTable | undefined
}

/** The tuples that a check looks at, roughly, where it goes up to a Domain and through groups. */
const CHECK_TUPLES = 16

/**
 * Finds every object on which the subject has what is asked, from the subject upwards: along the edges that it is in, the
 * sets and parents that those lead to, and the permissions that rest on them. Everything on the way is visited once, or
 * twice where it is first found conditionally. What intersects or excludes is settled by a check where it is met, so that
 * all beyond it is certain again.
 */
export class ResourceWalk {
  readonly #walked: Walked
  #asker: Asker | undefined
  #holds: ConditionVerdict = () => UNKNOWN
  /** Relations and permissions from which the asked one can follow. */
  #leads: Uint8Array = new Uint8Array(0)
  readonly #nodes = new WalkNodes()
  /** Objects with permissions that a check was asked about. */
  readonly #checked = new WalkNodes()
  /** Nodes to go on from, in the order in which they were found, so that each is reached by as few hops as can be. */
  readonly #certain = new NodeQueue()
  readonly #possible = new NodeQueue()
  /** The verdict of the node in hand, and the number of tuples up to it. */
  #verdict: Verdict = YES
  #hops = 0
  /** What is left of the node in hand: the next edge, how it is followed, and the lists behind it. */
  #edge = NONE
  #arrows: ArrowTable | undefined
  readonly #lists: EdgeList[] = []
  #nextList = 0
  /** Entries that are left of the current step. */
  #stepLeft = 0
  /** What is left of the bounds; negative once the walk has exceeded them. */
  #objectsLeft = Infinity
  #tuplesLeft = Infinity

  constructor(walked: Walked) {
    this.#walked = walked
  }

  /** @throws UndecidableError */
  *run(asker: Asker, holds: ConditionVerdict): Steps<FoundObjects> {
    const found = yield* this.runWithin(UNBOUNDED, asker, holds)
    if (found === undefined) throw new Error('a walk without bounds exceeded them')
    return found
  }

  /** Gives up beyond the bounds: undefined then. @throws UndecidableError */
  *runWithin({ objects, tuples }: WalkBounds, asker: Asker, holds: ConditionVerdict): Steps<FoundObjects | undefined> {
    this.#clear(asker, holds)
    this.#objectsLeft = objects
    this.#tuplesLeft = tuples
    this.#start(asker)
    while (this.#goFurther()) yield
    if (this.#isBeyond) return undefined
    return { granted: yield* this.#found(YES), conditional: yield* this.#found(UNKNOWN) }
  }

  get #isBeyond(): boolean {
    return this.#tuplesLeft < 0 || this.#objectsLeft < 0
  }

  /** Walks for one step. False at the end, and beyond the bounds. */
  #goFurther(): boolean {
    this.#stepLeft = STEP_ENTRIES
    while (this.#stepLeft > 0) {
      if (this.#isBeyond) return false
      if (this.#edge !== NONE) this.#goAlong()
      else if (!this.#takeList() && !this.#takeNode()) return false
    }
    return true
  }

  #takeList(): boolean {
    const list = this.#lists[this.#nextList]
    if (list === undefined) return false
    this.#nextList++
    this.#edge = list.first
    this.#arrows = list.arrows
    return true
  }

  #takeNode(): boolean {
    this.#stepLeft--
    if (!this.#certain.isEmpty) this.#goOn(this.#certain.shift(), YES)
    else if (!this.#possible.isEmpty) this.#goOnPossibly(this.#possible.shift())
    else return false
    return true
  }

  #clear(asker: Asker, holds: ConditionVerdict): void {
    this.#asker = asker
    this.#holds = holds
    this.#leads = this.#walked.graph.leadsTo(asker.asked)
    this.#nodes.clear()
    this.#checked.clear()
    this.#certain.clear()
    this.#possible.clear()
    this.#verdict = YES
    this.#hops = 0
    this.#edge = NONE
    this.#clearLists()
  }

  #clearLists(): void {
    this.#lists.length = 0
    this.#nextList = 0
  }

  #start({ subject, subjectType, userset }: Asker): void {
    if (userset === undefined) this.#startObject(subject, subjectType)
    else if (subject > NO_OBJECT) this.#reach(subject, userset.id, YES)
  }

  #startObject(subject: number, type: TypeModel): void {
    const { index, graph } = this.#walked
    const everyone = index.wildcard(type)
    if (everyone !== NONE) this.#lists.push({ first: index.firstEdgeOfObject(everyone), arrows: undefined })
    if (subject <= NO_OBJECT) return
    this.#lists.push({ first: index.firstEdgeOfObject(subject), arrows: undefined })
    for (const self of graph.selves[type.index] ?? []) this.#follow(self, subject, YES)
  }

  /** Goes along the list in hand for the rest of the step. */
  #goAlong(): void {
    const { index } = this.#walked
    const arrows = this.#arrows
    let edge = this.#edge
    for (; edge !== NONE && this.#stepLeft > 0 && !this.#isBeyond; edge = index.bySubject.next(edge)) {
      this.#tuplesLeft--
      this.#stepLeft--
      if (arrows === undefined) this.#reachSet(edge)
      else this.#followBack(edge, arrows)
    }
    this.#edge = edge
  }

  /** Reaches the set that an edge of a subject leads to. */
  #reachSet(edge: number): void {
    const { index } = this.#walked
    const set = index.edges.a(edge)
    const member = index.sets.memberOf(set)
    if (this.#leads[member] === 1) this.#reach(index.sets.objectOf(set), member, this.#through(edge))
  }

  /** Follows an edge backwards that an arrow follows forwards. */
  #followBack(edge: number, arrows: ArrowTable): void {
    const { index } = this.#walked
    const set = index.edges.a(edge)
    const dependents = arrows[index.sets.memberOf(set)]
    if (dependents === undefined) return
    const verdict = this.#through(edge)
    for (const dependent of dependents) this.#follow(dependent, index.sets.objectOf(set), verdict)
  }

  /** How far the subject gets beyond an edge of the step in hand. */
  #through(edge: number): Verdict {
    return Math.min(this.#verdict, edgeVerdict(this.#walked.index, edge, this.#holds))
  }

  /** Notes that the subject has the relation or permission on the object. */
  #reach(object: number, member: number, verdict: Verdict): void {
    if (verdict < UNKNOWN || this.#leads[member] === 0) return
    let node = this.#nodes.find(object, member)
    if (node === NONE) {
      node = this.#nodes.insert(object, member, verdict)
      if (member === this.#asker?.asked.id) this.#objectsLeft--
    } else if ((this.#nodes.verdicts[node] ?? NO) >= verdict) return
    if (this.#hops > HOPS_MAX) throw new UndecidableError(`nested deeper than ${HOPS_MAX} tuples`)
    this.#nodes.verdicts[node] = verdict
    this.#nodes.hops[node] = this.#hops
    if (verdict === YES) this.#certain.push(node)
    else this.#possible.push(node)
  }

  #goOnPossibly(node: number): void {
    if (this.#nodes.verdicts[node] === UNKNOWN) this.#goOn(node, UNKNOWN)
  }

  #goOn(node: number, verdict: Verdict): void {
    const { index, graph } = this.#walked
    const object = this.#nodes.objects[node] ?? 0
    const member = this.#nodes.members[node] ?? 0
    this.#verdict = verdict
    this.#hops = this.#nodes.hops[node] ?? 0
    this.#clearLists()
    for (const dependent of graph.local[member] ?? []) this.#follow(dependent, object, verdict)
    this.#hops++
    if (index.isSubjectKind(member)) {
      const set = index.sets.find(object, member)
      if (set !== NONE) this.#lists.push({ first: index.firstEdgeOfSet(set), arrows: undefined })
    }
    const arrows = graph.arrows[member]
    if (arrows !== undefined) this.#followArrows(object, arrows)
  }

  #followArrows(object: number, arrows: ArrowTable): void {
    const { index, graph } = this.#walked
    this.#lists.push({ first: index.firstEdgeOfObject(object), arrows })
    for (const { id } of graph.followedSets[index.objects.typeOf(object)] ?? []) {
      const set = index.sets.find(object, id)
      if (set !== NONE) this.#lists.push({ first: index.firstEdgeOfSet(set), arrows })
    }
  }

  #follow({ permission, isCertain }: Dependent, object: number, verdict: Verdict): void {
    const asker = this.#asker
    if (verdict < UNKNOWN || this.#leads[permission.id] === 0) return
    if (isCertain) this.#reach(object, permission.id, verdict)
    else if (asker !== undefined && this.#isOpen(object, permission.id)) {
      this.#tuplesLeft -= CHECK_TUPLES
      this.#stepLeft -= CHECK_TUPLES
      const asked = { ...asker, asked: permission, resource: object }
      this.#reach(object, permission.id, this.#walked.checker.check(asked, this.#holds, false))
    }
  }

  /** Whether a check can find something new; records that it is being asked. */
  #isOpen(object: number, member: number): boolean {
    const node = this.#nodes.find(object, member)
    if (node !== NONE && this.#nodes.verdicts[node] === YES) return false
    if (this.#checked.find(object, member) !== NONE) return false
    this.#checked.insert(object, member, NO)
    return true
  }

  *#found(verdict: Verdict): Steps<Int32Array> {
    const { size, members, verdicts, objects } = this.#nodes
    const asked = this.#asker?.asked.id
    const pace = new Pace()
    const found = new NumberList()
    for (let node = 0; node < size; node++) {
      if (pace.isDue()) yield
      if (verdicts[node] === verdict && members[node] === asked) found.push(objects[node] ?? 0)
    }
    return found.numbers()
  }
}
