import type { Askable, PermissionModel } from '../../model.ts'
import { NONE } from '../edge-chains.ts'
import { NodeQueue } from '../lookup/node-queue.ts'
import type { ArrowTable, ReverseGraph } from '../lookup/reverse-graph.ts'
import { WalkNodes } from '../lookup/walk-nodes.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { NO } from '../verdict.ts'

/** Objects with relations and permissions that one walk visits. */
export const AFFECTED_MAX = 50_000

/** A permission on an object, by number. */
export interface AffectedPermission {
  readonly object: number
  readonly permission: PermissionModel
}

export interface Affected {
  /** Those next to the changed tuples first. */
  readonly permissions: readonly AffectedPermission[]
  /** False when there were more than a walk visits. */
  readonly isComplete: boolean
}

/** Where tuples change: the relation of a resource. */
export interface ChangedSet {
  readonly object: number
  readonly relation: Askable
}

/** Finds every permission whose answer may depend on the tuples of the sets, from those upwards. */
export class AffectedWalk {
  readonly #index: TupleIndex
  readonly #graph: ReverseGraph
  readonly #nodes = new WalkNodes()
  readonly #queue = new NodeQueue()
  #isComplete = true

  /** `graph` holds dependence of any kind. */
  constructor(index: TupleIndex, graph: ReverseGraph) {
    this.#index = index
    this.#graph = graph
  }

  run(changed: readonly ChangedSet[]): Affected {
    for (const { object, relation } of changed) this.#reach(object, relation.id)
    while (!this.#queue.isEmpty) this.#goOn(this.#queue.shift())
    return { permissions: this.#permissions(), isComplete: this.#isComplete }
  }

  #reach(object: number, member: number): void {
    if (this.#nodes.find(object, member) !== NONE) return
    if (this.#nodes.size >= AFFECTED_MAX) this.#isComplete = false
    else this.#queue.push(this.#nodes.insert(object, member, NO))
  }

  #goOn(node: number): void {
    const object = this.#nodes.objects[node] ?? 0
    const member = this.#nodes.members[node] ?? 0
    for (const { permission } of this.#graph.local[member] ?? []) this.#reach(object, permission.id)
    const set = this.#index.sets.find(object, member)
    if (set !== NONE) this.#containers(this.#index.firstEdgeOfSet(set))
    const arrows = this.#graph.arrows[member]
    if (arrows !== undefined) this.#pointers(object, arrows)
  }

  #containers(first: number): void {
    const { edges, sets, bySubject } = this.#index
    for (let edge = first; edge !== NONE; edge = bySubject.next(edge)) {
      this.#reach(sets.objectOf(edges.a(edge)), sets.memberOf(edges.a(edge)))
    }
  }

  #pointers(object: number, arrows: ArrowTable): void {
    this.#along(this.#index.firstEdgeOfObject(object), arrows)
    for (const { id } of this.#graph.followedSets[this.#index.objects.typeOf(object)] ?? []) {
      const set = this.#index.sets.find(object, id)
      if (set !== NONE) this.#along(this.#index.firstEdgeOfSet(set), arrows)
    }
  }

  #along(first: number, arrows: ArrowTable): void {
    const { edges, sets, bySubject } = this.#index
    for (let edge = first; edge !== NONE; edge = bySubject.next(edge)) {
      const set = edges.a(edge)
      for (const { permission } of arrows[sets.memberOf(set)] ?? []) this.#reach(sets.objectOf(set), permission.id)
    }
  }

  #permissions(): AffectedPermission[] {
    const found: AffectedPermission[] = []
    for (let node = 0; node < this.#nodes.size; node++) {
      const permission = this.#index.members[this.#nodes.members[node] ?? 0]
      if (permission?.kind === 'permission') found.push({ object: this.#nodes.objects[node] ?? 0, permission })
    }
    return found
  }
}
