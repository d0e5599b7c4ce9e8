/** The order of two texts by their UTF-8 bytes, which is that of their code points. */
export function byteOrder(one: string, other: string): number {
  const [a, b] = [one[Symbol.iterator](), other[Symbol.iterator]()]
  for (;;) {
    const [left, right] = [a.next(), b.next()]
    if (left.done === true || right.done === true) return Number(right.done ?? false) - Number(left.done ?? false)
    const difference = (left.value.codePointAt(0) ?? 0) - (right.value.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
}

/** The different texts in the order of their bytes. */
export function sortedSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted(byteOrder)
}
