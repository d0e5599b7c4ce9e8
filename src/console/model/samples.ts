import { STATES, type Counts } from './fleet.ts'

/** How many nodes were in each state at an instant, in ms. */
export interface Sample extends Counts {
  readonly atMs: number
}

/** Two hours at one sample in 15 seconds. */
const SAMPLES_MAX = 480
/** Samples that are closer to each other replace each other. */
const APART_MS = 5_000

/**
 * Appends a sample; the oldest go first. One that is close to the last takes its place and keeps its time: where samples come every
 * second, the last would move on without an end otherwise.
 */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1)
  if (last !== undefined && sample.atMs - last.atMs < APART_MS)
    return [...samples.slice(0, -1), { ...sample, atMs: last.atMs }]
  return [...samples, sample].slice(-SAMPLES_MAX)
}

/** Samples of two sources in their order; of two with the same instant the one of `later`. */
export function mergedSamples(earlier: readonly Sample[], later: readonly Sample[]): readonly Sample[] {
  const byInstant = new Map([...earlier, ...later].map((sample) => [sample.atMs, sample]))
  return [...byInstant.values()].toSorted((a, b) => a.atMs - b.atMs)
}

/** A period that the chart shows. */
export interface ChartPeriod {
  /** What the address calls it. */
  readonly name: string
  readonly words: string
  readonly ms: number
  /** Time from one row of the table to the next, ms. */
  readonly stepMs: number
  readonly stepWords: string
}

const HOUR_MS = 3_600_000
/** How long the server keeps samples, ms. */
export const KEPT_MS = 168 * HOUR_MS

const DAY: ChartPeriod = { name: '24h', words: '24 hours', ms: 24 * HOUR_MS, stepMs: HOUR_MS, stepWords: 'hour' }

export const CHART_PERIODS: readonly ChartPeriod[] = [
  { name: '2h', words: '2 hours', ms: 2 * HOUR_MS, stepMs: 300_000, stepWords: '5 minutes' },
  DAY,
  { name: '7d', words: '7 days', ms: KEPT_MS, stepMs: 6 * HOUR_MS, stepWords: '6 hours' },
]

/** The period of that name; 24 hours where there is none. */
export const chartPeriod = (name: string | undefined): ChartPeriod =>
  CHART_PERIODS.find((period) => period.name === name) ?? DAY

/** The samples from an instant on, in ms. */
export const samplesSince = (samples: readonly Sample[], sinceMs: number): readonly Sample[] =>
  samples.filter(({ atMs }) => atMs >= sinceMs)

/** The last sample of each step that has one, the newest first. */
export function lastOfSteps(samples: readonly Sample[], stepMs: number): readonly Sample[] {
  const stepOf = ({ atMs }: Sample): number => Math.floor(atMs / stepMs)
  return [...new Map(samples.map((sample) => [stepOf(sample), sample])).values()].toReversed()
}

/** Samples that the browser kept; none where the text is not what this version writes. */
export function readSamples(text: string | null): readonly Sample[] {
  try {
    const rows: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(rows) ? rows.filter(isSample) : []
  } catch {
    return []
  }
}

function isSample(row: unknown): row is Sample {
  if (typeof row !== 'object' || row === null) return false
  const members = row as Readonly<Record<string, unknown>>
  return ['atMs', ...STATES].every((name) => Number.isFinite(members[name]))
}

/** Without a sample for longer than this, the interval of the server, nothing is known of the time between. */
const GAP_MS = 300_000

/**
 * The outlines of a stacked chart in a box of `width` by `height`: one path for each state, the first at the bottom. They break where
 * samples are missing.
 */
export function stackedPaths(
  samples: readonly Sample[],
  { width, height }: { readonly width: number; readonly height: number },
): readonly { readonly state: keyof Counts; readonly path: string }[] {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined) return []
  const span = Math.max(1, last.atMs - first.atMs)
  const most = Math.max(1, ...samples.map(totalOf))
  const x = ({ atMs }: Sample) => ((atMs - first.atMs) / span) * width
  const y = (count: number) => height - (count / most) * height
  let below = samples.map(() => 0)
  return STATES.map((state) => {
    const floor = below
    const top = samples.map((sample, at) => (floor[at] ?? 0) + sample[state])
    below = top
    const upper = samples.map((sample, at) => `${round(x(sample))} ${round(y(top[at] ?? 0))}`)
    const lower = samples.map((sample, at) => `${round(x(sample))} ${round(y(floor[at] ?? 0))}`)
    const outline = ([from, to]: readonly [number, number]): string =>
      `M${[...upper.slice(from, to), ...lower.slice(from, to).toReversed()].join('L')}Z`
    return { state, path: runsOf(samples).map(outline).join('') }
  })
}

/** Beginning and end of each run of samples without a gap. */
function runsOf(samples: readonly Sample[]): readonly (readonly [number, number])[] {
  const starts = samples.flatMap(({ atMs }, at) => {
    const before = samples[at - 1]
    return before !== undefined && atMs - before.atMs <= GAP_MS ? [] : [at]
  })
  return starts.map((from, at) => [from, starts[at + 1] ?? samples.length])
}

/** Whether there are times between the samples of which nothing is known. */
export const hasGaps = (samples: readonly Sample[]): boolean => runsOf(samples).length > 1

/** All nodes of a sample. */
export const totalOf = (sample: Counts): number => STATES.reduce((sum, state) => sum + sample[state], 0)

const round = (value: number): number => Math.round(value * 10) / 10
