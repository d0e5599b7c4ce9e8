import type { TupleIndex } from '../tuple-index.ts'

/**
 * Texts `<type>:<id>` of objects of one type, in the order of lookup results: by the revision that made their first tuple,
 * then id (decisions: Lookup order).
 */
export function orderedReferences(index: TupleIndex, type: string, objects: readonly number[]): string[] {
  const order = byRevision(index, objects)
  const references = order.map((object) => `${type}:${index.objects.idOf(object)}`)
  for (let from = 0; from < order.length;) {
    const revision = index.firstRevision(order[from] ?? 0)
    let to = from + 1
    while (to < order.length && index.firstRevision(order[to] ?? 0) === revision) to++
    if (to - from > 1) sortPart(references, from, to)
    from = to
  }
  return references
}

/** Sorts numbers that hold the revision and the place, which is many times faster than comparing revisions. */
function byRevision(index: TupleIndex, objects: readonly number[]): number[] {
  const count = objects.length
  const keys = Float64Array.from(objects, (object, place) => index.firstRevision(object) * count + place)
  return Array.from(keys.toSorted(), (key) => objects[key % count] ?? 0)
}

function sortPart(references: string[], from: number, to: number): void {
  const part = references.slice(from, to).toSorted()
  for (let at = from; at < to; at++) references[at] = part[at - from] ?? ''
}
