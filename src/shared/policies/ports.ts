import { PORT_MAX, type PortRange } from './rule-types.ts'

const RANGE = /^(?<from>[1-9]\d{0,4})(?:-(?<to>[1-9]\d{0,4}))?$/

/** Reads `22` or `8000-8100`; undefined where that is no range of ports between 1 and 65535. */
export function parsePortRange(text: string): PortRange | undefined {
  const groups = RANGE.exec(text)?.groups
  if (groups === undefined) return undefined
  const from = Number(groups['from'])
  const to = Number(groups['to'] ?? from)
  return from <= to && to <= PORT_MAX ? [from, to] : undefined
}

/** The same ports as ascending ranges that neither overlap nor touch. */
export function mergeRanges(ranges: readonly PortRange[]): readonly PortRange[] {
  if (ranges.length < 2) return ranges
  const merged: [number, number][] = []
  for (const [from, to] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

/** The lowest port that both lists contain, each merged; undefined if there is none. */
export function commonPort(one: readonly PortRange[], other: readonly PortRange[]): number | undefined {
  let [at, otherAt] = [0, 0]
  for (;;) {
    const [range, otherRange] = [one[at], other[otherAt]]
    if (range === undefined || otherRange === undefined) return undefined
    const from = Math.max(range[0], otherRange[0])
    if (from <= Math.min(range[1], otherRange[1])) return from
    if (range[1] < otherRange[1]) at += 1
    else otherAt += 1
  }
}
