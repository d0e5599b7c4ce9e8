/** The index of an id in a list in ascending order without repetitions, or that at which it would be inserted. */
export function insertionIndex(ids: readonly string[], id: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] ?? '') < id) low = middle + 1
    else high = middle
  }
  return low
}
