import { Pace, type Steps } from '../../../steps.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { ObjectTexts } from './object-texts.ts'
import { sortedNumbers, sortedTexts } from './sort-in-steps.ts'

/**
 * Texts `<type>:<id>` of objects of one type, in the order of lookup results: by the revision that made their first tuple,
 * then id (decisions: Lookup order).
 */
export function* orderedReferences(index: TupleIndex, type: string, objects: Int32Array): Steps<string[]> {
  const { order, revisions } = yield* byRevision(index, objects)
  const references = yield* new ObjectTexts(index.objects, `${type}:`).of(order)
  const pace = new Pace()
  for (let from = 0, to = 1; from < order.length; to++) {
    if (pace.isDue()) yield
    if (to < order.length && revisions[to] === revisions[from]) continue
    if (to - from > 1) yield* sortPart(references, from, to)
    from = to
  }
  return references
}

interface Ordered {
  readonly order: Int32Array
  /** By place in the order. */
  readonly revisions: Float64Array
}

/** Sorts numbers that hold the revision and the place, which is many times faster than comparing revisions. */
function* byRevision(index: TupleIndex, objects: Int32Array): Steps<Ordered> {
  const count = objects.length
  const pace = new Pace()
  const keys = new Float64Array(count)
  for (let at = 0; at < count; at++) {
    const object = objects[at] ?? 0
    keys[at] = (index.knownRevision(object) ?? (yield* index.findRevision(object))) * count + at
    if (pace.isDue()) yield
  }
  const revisions = yield* sortedNumbers(keys)
  const order = new Int32Array(count)
  for (let at = 0; at < count; at++) {
    const key = revisions[at] ?? 0
    order[at] = objects[key % count] ?? 0
    revisions[at] = Math.floor(key / count)
    if (pace.isDue()) yield
  }
  return { order, revisions }
}

function* sortPart(references: string[], from: number, to: number): Steps<void> {
  const part = yield* sortedTexts(references.slice(from, to))
  const pace = new Pace()
  for (let at = from; at < to; at++) {
    references[at] = part[at - from] ?? ''
    if (pace.isDue()) yield
  }
}
