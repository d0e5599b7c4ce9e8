import type { TupleIndex } from '../tuple-index.ts'

/**
 * Texts `<type>:<id>` of objects of one type, in the order of lookup results: by the revision that made their first tuple,
 * then id (decisions: Lookup order).
 */
export function orderedReferences(index: TupleIndex, type: string, objects: Int32Array): string[] {
  const order = byRevision(index, objects)
  const references: string[] = []
  for (const object of order) references.push(`${type}:${index.objects.idOf(object)}`)
  for (let from = 0; from < order.length;) {
    const to = endOfRevision(index, order, from)
    if (to - from > 1) sortPart(references, from, to)
    from = to
  }
  return references
}

function endOfRevision(index: TupleIndex, order: Int32Array, from: number): number {
  const revision = index.firstRevision(order[from] ?? 0)
  let to = from + 1
  while (to < order.length && index.firstRevision(order[to] ?? 0) === revision) to++
  return to
}

/** Sorts numbers that hold the revision and the place, which is many times faster than comparing revisions. */
function byRevision(index: TupleIndex, objects: Int32Array): Int32Array {
  const count = objects.length
  const keys = new Float64Array(count)
  for (let at = 0; at < count; at++) keys[at] = index.firstRevision(objects[at] ?? 0) * count + at
  const sorted = keys.toSorted()
  const order = new Int32Array(count)
  for (let at = 0; at < count; at++) order[at] = objects[(sorted[at] ?? 0) % count] ?? 0
  return order
}

function sortPart(references: string[], from: number, to: number): void {
  const part = references.slice(from, to).toSorted()
  for (let at = from; at < to; at++) references[at] = part[at - from] ?? ''
}
