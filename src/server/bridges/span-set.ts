import type { Span } from '../../shared/bridges/subnet.ts'

/** Networks none of which overlaps another one, with a value of each. */
export interface SpanSet<Value> {
  /** The values of the networks that overlap, by first address. */
  overlapping(span: Span): readonly Value[]
  /** Adds a network that overlaps none. */
  add(span: Span, value: Value): void
}

/** Makes an empty set. A look takes logarithmic time, apart from what it finds: a Domain may have tens of thousands of subnets. */
export function createSpanSet<Value>(): SpanSet<Value> {
  const families = new Map<Span['family'], { readonly span: Span; readonly value: Value }[]>()

  /** The place of the first network that does not end before the span. */
  function placeOf(span: Span): number {
    const spans = families.get(span.family) ?? []
    let [low, high] = [0, spans.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((spans[middle]?.span.last ?? span.first) < span.first) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    overlapping(span) {
      const spans = families.get(span.family) ?? []
      const found: Value[] = []
      for (let place = placeOf(span); place < spans.length; place += 1) {
        const each = spans[place]
        if (each === undefined || each.span.first > span.last) break
        found.push(each.value)
      }
      return found
    },
    add(span, value) {
      const spans = families.get(span.family) ?? []
      families.set(span.family, spans)
      spans.splice(placeOf(span), 0, { span, value })
    },
  }
}
