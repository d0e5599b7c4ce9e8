import type { CapacityHistory, Unit } from '../answers.ts'
import { SIZE_STEP } from '../quantity.ts'

type Point = CapacityHistory['points'][number]

const HOUR_MS = 3_600_000
/** Twice as many as are kept. */
const HOURS_MAX = 1_680

/** The hours that a plot can show: with a time, and at most so long before the last one, whatever a server answers. */
export function plottable({ points }: CapacityHistory): CapacityHistory['points'] {
  const times = points.map(({ hour }) => Date.parse(hour)).filter((ms) => !Number.isNaN(ms))
  const last = Math.max(...times)
  return points
    .filter(({ hour }) => last - Date.parse(hour) < HOURS_MAX * HOUR_MS)
    .toSorted((one, other) => Date.parse(one.hour) - Date.parse(other.hour))
}

/** Hours in a row, one place for each; undefined where none was recorded. */
export function hoursOf({ points }: CapacityHistory): readonly (Point | undefined)[] {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return []
  const startMs = Date.parse(first.hour)
  const at = ({ hour }: Point): number => Math.round((Date.parse(hour) - startMs) / HOUR_MS)
  const hours: (Point | undefined)[] = Array.from({ length: at(last) + 1 }, () => undefined)
  for (const point of points) hours[at(point)] = point
  return hours
}

/** The vertical scale of a plot, from 0 to `top`. */
export interface Scale {
  readonly top: number
  /** The largest target is beyond the top: to its scale what is used would be flat. */
  readonly isTargetBeyond: boolean
}

/** A target so many times as large as what is used is left out of the scale. */
const FAR = 8
/** Steps of a scale, as parts of a power of ten; of 1024 for bytes. */
const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 6, 8, 10]
const SIZE_STEPS = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]

/** A scale that shows what was used and, unless that is far below, the target. */
export function scaleOf({ points, unit }: CapacityHistory): Scale {
  const most = Math.max(0, ...points.map(({ used_max: used }) => used))
  const target = Math.max(0, ...points.map((point) => point.target))
  const isTargetBeyond = most > 0 && target > most * FAR
  return { top: roundedUp(isTargetBeyond ? most : Math.max(most, target, 1), unit), isTargetBeyond }
}

function roundedUp(value: number, unit: Unit): number {
  const [base, steps] = unit === 'bytes/sec' ? [SIZE_STEP, SIZE_STEPS] : [10, STEPS]
  let power = 1
  while (power * base < value) power *= base
  if (unit === 'count' && value < base) return Math.max(2, Math.ceil(value / 2) * 2)
  while (power > value) power /= base
  return power * (steps.find((step) => step * power >= value) ?? base)
}
