import type { Span } from '../../shared/bridges/subnet.ts'

/** Networks none of which overlaps another one, with a value of each. */
export interface SpanSet<Value> {
  /** The first network that overlaps, with its value. */
  overlapping(span: Span): { readonly span: Span; readonly value: Value } | undefined
  /** Adds a network that overlaps none. */
  add(span: Span, value: Value): void
}

/** Makes an empty set. A look takes logarithmic time: a Domain may have tens of thousands of subnets. */
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
      const found = families.get(span.family)?.[placeOf(span)]
      return found !== undefined && found.span.first <= span.last ? found : undefined
    },
    add(span, value) {
      const spans = families.get(span.family) ?? []
      families.set(span.family, spans)
      spans.splice(placeOf(span), 0, { span, value })
    },
  }
}
