/** The largest sample of an hour. */
export interface HourPoint {
  readonly hour: string
  readonly used_max: number
}

const HOUR_MS = 3_600_000

/**
 * The path of a line from the first hour to the last in a box; it breaks where hours are missing. Hours without one beside them are in
 * `dots`, as segments of no length, which a round cap draws as points.
 */
export function historyLine(
  points: readonly HourPoint[],
  { width, height }: { readonly width: number; readonly height: number },
): { readonly line: string; readonly dots: string; readonly most: number } {
  const most = Math.max(1, ...points.map(({ used_max: used }) => used))
  const times = points.map(({ hour }) => Date.parse(hour))
  const from = times[0] ?? 0
  const span = (times.at(-1) ?? 0) - from
  const x = (ms: number) => (span === 0 ? width / 2 : round(((ms - from) / span) * width))
  let [line, dots] = ['', '']
  for (const [at, { used_max: used }] of points.entries()) {
    const ms = times[at] ?? 0
    const place = `${x(ms)} ${round(height - (used / most) * height)}`
    if (isNext(times[at - 1], ms)) line += `L${place}`
    else if (isNext(ms, times[at + 1])) line += `M${place}`
    else dots += `M${place}h0`
  }
  return { line, dots, most }
}

const isNext = (ms: number | undefined, later: number | undefined): boolean =>
  ms !== undefined && later !== undefined && later - ms <= HOUR_MS

const round = (value: number): number => Math.round(value * 10) / 10
