import type { Askable, Model } from '../model.ts'
import { parseTupleReference } from '../reference.ts'
import type { TupleColumns } from '../tuple.ts'
import { NONE } from './edge-chains.ts'
import type { TupleIndex } from './tuple-index.ts'

/** Groups in groups that a tuple may make: a chain of more is refused. Leaves room within `HOPS_MAX` for the roles above it. */
export const NESTING_MAX = 40

/** Usersets within usersets, of relations that are subjects somewhere (`group#member`). Sets are named `type:id#relation`. */
export interface NestingGraph {
  /** The sets that directly contain it. */
  readonly containers: (set: string) => Iterable<string>
  /** The sets that it directly contains. */
  readonly contents: (set: string) => Iterable<string>
}

type Written = Omit<TupleColumns, 'domain_id'>

/**
 * Returns why a tuple may not be written: it would make a set a member of itself, or nest sets deeper than 40.
 * Tuples whose subject is no userset, or whose own set is nobody's subject, cannot do either.
 */
export function nestingFault(model: Model, graph: NestingGraph, tuple: Written): 'cycle' | 'too_deep' | undefined {
  if (!isNesting(model, tuple)) return undefined
  const outer = outerOf(tuple)
  const inner = innerOf(tuple)
  const below = longest(inner, graph.contents, outer)
  if (below === undefined) return 'cycle'
  const above = longest(outer, graph.containers, inner) ?? 0
  return above + 1 + below > NESTING_MAX ? 'too_deep' : undefined
}

/** The nesting that an index holds, and on top of it tuples that were written but that the index has not seen. */
export function indexNesting(model: Model, index: TupleIndex, pending: readonly Written[]): NestingGraph {
  const nested = pending.filter((tuple) => isNesting(model, tuple))
  return {
    *containers(set) {
      for (const tuple of nested) if (innerOf(tuple) === set) yield outerOf(tuple)
      for (const row of containersOf(index, findSet(model, index, set))) yield nameOf(model, index, row)
    },
    *contents(set) {
      for (const tuple of nested) if (outerOf(tuple) === set) yield innerOf(tuple)
      for (const row of contentsOf(index, findSet(model, index, set))) yield nameOf(model, index, row)
    },
  }
}

const outerOf = (tuple: Written) => `${tuple.resource_type}:${tuple.resource_id}#${tuple.relation}`
const innerOf = (tuple: Written) => `${tuple.subject_type}:${tuple.subject_id}#${tuple.subject_relation}`

function isNesting(model: Model, { resource_type: type, relation, subject_relation: userset }: Written): boolean {
  const member = userset === '' ? undefined : model.type(type)?.writable.get(relation)
  return member !== undefined && isSubjectSomewhere(model, member)
}

function isSubjectSomewhere({ types }: Model, member: Askable): boolean {
  return types.some(({ relations }) =>
    relations.some(({ subjects }) => subjects.some((rule) => rule.relation === member)),
  )
}

/**
 * Length of the longest chain from a set; undefined when it reaches `goal`. Chains are cut past the limit, where only
 * "too deep" is left to say; a cycle that is in the data already adds nothing.
 */
function longest(from: string, next: (set: string) => Iterable<string>, goal: string): number | undefined {
  const lengths = new Map<string, number>()
  const visit = (set: string, depth: number): number | undefined => {
    if (set === goal) return undefined
    const known = lengths.get(set)
    if (known !== undefined || depth > NESTING_MAX) return known ?? 0
    lengths.set(set, 0)
    let length = 0
    for (const each of next(set)) {
      const beyond = visit(each, depth + 1)
      if (beyond === undefined) return undefined
      length = Math.max(length, beyond + 1)
    }
    lengths.set(set, length)
    return length
  }
  return visit(from, 0)
}

function findSet(model: Model, index: TupleIndex, set: string): number {
  const { type, id, relation } = parseTupleReference(set) ?? { type: '', id: '', relation: '' }
  const member = model.type(type)?.askable.get(relation)
  if (member === undefined) return NONE
  return index.sets.find(index.objects.find(member.type.index, id, 0), member.id)
}

function nameOf({ types }: Model, { sets, objects, members }: TupleIndex, set: number): string {
  const object = sets.objectOf(set)
  return `${types[objects.typeOf(object)]?.name}:${objects.idOf(object)}#${members[sets.memberOf(set)]?.name}`
}

function* contentsOf(index: TupleIndex, set: number): Iterable<number> {
  if (set === NONE) return
  const first = index.firstSetSubject(set)
  for (let edge = first; edge !== NONE; edge = index.bySet.next(edge)) yield index.edges.b(edge) >> 1
}

/** Containers of relations that are nobody's subject, such as roles, are where nesting ends. */
function* containersOf(index: TupleIndex, set: number): Iterable<number> {
  if (set === NONE) return
  const first = index.firstEdgeOfSet(set)
  for (let edge = first; edge !== NONE; edge = index.bySubject.next(edge)) {
    const container = index.edges.a(edge)
    if (index.isSubjectKind(index.sets.memberOf(container))) yield container
  }
}
