import { NONE, type Chain } from '../../../src/shared/authz/engine/edge-chains.ts'
import { isSet, type TupleIndex } from '../../../src/shared/authz/engine/tuple-index.ts'
import type { Model } from '../../../src/shared/authz/model.ts'

const IDS = ['a', 'b', 'c', '*']

/** All that an index over objects of a few ids holds, by names in place of numbers and in an order that tells nothing. */
export function viewOf(index: TupleIndex, model: Model) {
  const objects = objectsOf(index, model)
  const names = new Map(objects.map(({ name, number }) => [number, name]))
  const sets = objects.flatMap((object) => setsAt(index, object))
  const edges = sets.flatMap(({ number }) => [
    ...chained(index.firstObjectSubject(number), index.bySet),
    ...chained(index.firstSetSubject(number), index.bySet),
  ])
  const reverse = [
    ...objects.flatMap(({ number }) => chained(index.firstEdgeOfObject(number), index.bySubject)),
    ...sets.flatMap(({ number }) => chained(index.firstEdgeOfSet(number), index.bySubject)),
  ]
  const relations = model.types.flatMap((type) => type.relations)
  const edgeName = (edge: number): string => nameOfEdge(index, names, edge)
  return {
    sizes: [index.objects.size, index.sets.size, index.edges.size, index.conditions.size, index.conditions.extraTuples],
    objects: objects.map(({ name, number }) => [name, index.firstRevision(number), index.isWildcard(number)]),
    sets: sets.map(({ name }) => name),
    forwards: edges.map(edgeName).toSorted(),
    backwards: reverse.map(edgeName).toSorted(),
    conditions: edges.map((edge) => `${edgeName(edge)} ${conditionsOf(index, edge)}`).toSorted(),
    relations: objects.map(({ number }) => relations.map((relation) => index.mayHave(number, relation))),
  }
}

interface Named {
  readonly name: string
  readonly number: number
}

function objectsOf(index: TupleIndex, { types }: Model): Named[] {
  return types
    .flatMap((type) => IDS.map((id) => ({ name: `${type.name}:${id}`, number: index.objects.find(type.index, id, 0) })))
    .filter(({ number }) => number !== NONE)
}

function setsAt(index: TupleIndex, { name, number }: Named): Named[] {
  return index.members
    .map((member) => ({ name: `${name}#${member.name}`, number: index.sets.find(number, member.id) }))
    .filter((set) => set.number !== NONE)
}

/** @throws RangeError where a chain comes back to itself. */
function chained(first: number, chain: Chain): number[] {
  const edges = new Set<number>()
  for (let edge = first; edge !== NONE; edge = chain.next(edge)) {
    if (edges.has(edge)) throw new RangeError(`edge ${edge} follows itself`)
    edges.add(edge)
  }
  return [...edges]
}

function nameOfEdge({ edges, sets, members }: TupleIndex, names: ReadonlyMap<number, string>, edge: number): string {
  const setName = (set: number): string => `${names.get(sets.objectOf(set))}#${members[sets.memberOf(set)]?.name}`
  const subject = edges.b(edge)
  return `${setName(edges.a(edge))}@${isSet(subject) ? setName(subject >> 1) : names.get(subject >> 1)}`
}

function conditionsOf({ conditions }: TupleIndex, edge: number): string {
  const alternatives = conditions.of(edge)
  const held = alternatives?.conditions.map(({ caveat, context, expiresAtMs, revision }) =>
    JSON.stringify([caveat?.name, context, String(expiresAtMs), revision]),
  )
  return JSON.stringify([conditions.firstRevision(edge), alternatives?.unconditional, held?.toSorted()])
}
