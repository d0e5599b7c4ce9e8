/** The largest sample of an hour. */
export interface HourPoint {
  readonly hour: string
  readonly used_max: number
}

const HOUR_MS = 3_600_000

/** The path of a line through the hours in a box; it breaks where hours are missing. A lone hour is a short dash. */
export function historyLine(
  points: readonly HourPoint[],
  { width, height }: { readonly width: number; readonly height: number },
): { readonly line: string; readonly most: number } {
  const most = Math.max(1, ...points.map(({ used_max: used }) => used))
  const times = points.map(({ hour }) => Date.parse(hour))
  const from = times[0] ?? 0
  const span = Math.max(HOUR_MS, (times.at(-1) ?? 0) + HOUR_MS - from)
  const x = (ms: number) => round(((ms - from) / span) * width)
  const parts = points.map(({ used_max: used }, at) => {
    const ms = times[at] ?? 0
    const before = times[at - 1]
    const y = round(height - (used / most) * height)
    const isJoined = before !== undefined && ms - before <= HOUR_MS
    return `${isJoined ? 'L' : 'M'}${x(ms)} ${y}H${x(ms + HOUR_MS)}`
  })
  return { line: parts.join(''), most }
}

const round = (value: number): number => Math.round(value * 10) / 10
