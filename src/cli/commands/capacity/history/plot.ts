import type { Style } from '../../../output/style.ts'
import { fitted } from '../../../output/width.ts'
import type { CapacityHistory } from '../answers.ts'
import { quantityText } from '../quantity.ts'
import { hoursOf, scaleOf, type Scale } from './scale.ts'
import { dayText, hourText, rangeText, summaryText, targetText } from './sentences.ts'

/** How and where a plot is drawn. */
export interface PlotCanvas {
  /** What the Domain is called. */
  readonly name: string
  readonly style: Style
  /** Size of the terminal. */
  readonly columns: number
  readonly rows: number
  /** Whether there is more than ASCII. */
  readonly isUtf8: boolean
}

const HEIGHT_MIN = 4
const HEIGHT_MAX = 14
/** Lines around the plot, the prompt included. */
const OTHER_LINES = 7
const WIDTH_MIN = 16
const LINE_MIN = 4
/** An hour is at most so wide. */
const HOUR_WIDTH_MAX = 4
/** Between two texts below the axis, and what one needs before the end of it. */
const TICK_GAP = 4
const TICK_ROOM = 6
/** With more days than that, the axis names days alone. */
const DAYS_WITH_HOURS = 3

interface Marks {
  /** From empty to full. */
  readonly levels: readonly string[]
  readonly target: string
  readonly side: string
  readonly label: string
  readonly corner: string
  readonly floor: string
  readonly tick: string
  readonly beyond: string
}

const UNICODE: Marks = {
  levels: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  target: '╌',
  side: '│',
  label: '┤',
  corner: '└',
  floor: '─',
  tick: '┬',
  beyond: '↑',
}
const ASCII: Marks = {
  levels: [' ', '.', '.', ':', ':', '#', '#', '#', '#'],
  target: '-',
  side: '|',
  label: '+',
  corner: '+',
  floor: '-',
  tick: '+',
  beyond: '^',
}

/** What one column of a plot shows. */
interface Column {
  /** Start of its first hour. */
  readonly hour: string
  readonly used: number | undefined
  readonly target: number
}

/** The hours of a dimension as a plot that fits the terminal: bars, the target as a line, axes with units and dates. */
export function plotLines(history: CapacityHistory, canvas: PlotCanvas): readonly string[] {
  const { name, style, columns: width, rows, isUtf8 } = canvas
  const scale = scaleOf(history)
  const height = 2 * Math.floor(Math.min(HEIGHT_MAX, Math.max(HEIGHT_MIN, rows - OTHER_LINES)) / 2)
  const labels = [scale.top, scale.top / 2, 0].map((value) => quantityText(value, history.unit))
  const labelWidth = Math.max(...labels.map(({ length }) => length))
  const marks = isUtf8 ? UNICODE : ASCII
  const columns = columnsOf(history, Math.max(WIDTH_MIN, width - labelWidth - 3))
  const plot: Plot = { columns, height, scale, marks, style }
  const sides = sidesOf(labels, { height, labelWidth, marks })
  return [
    style.bold(fitted(`${history.dimension} of ${name}, hourly maximum, ${rangeText(history)}`, width)),
    ...beyondLine(history, plot, labelWidth),
    ...sides.map((side, at) => `${side}${rowText(plot, height - 1 - at)}`.trimEnd()),
    ...axisLines(columns, { zero: (labels[2] ?? '').padStart(labelWidth), marks }),
    fitted(`${legendText(history, plot)}${summaryText(history)}`, width),
  ]
}

/** Hours side by side; several share a column where there are too many, with the largest of them. */
function columnsOf(history: CapacityHistory, width: number): readonly Column[] {
  const hours = hoursOf(history)
  const startMs = Date.parse(history.points[0]?.hour ?? '')
  const shared = Math.ceil(hours.length / width)
  const repeated = shared > 1 ? 1 : Math.min(HOUR_WIDTH_MAX, Math.floor(width / hours.length))
  const columns: Column[] = []
  for (let from = 0; from < hours.length; from += shared) {
    const known = hours.slice(from, from + shared).filter((point) => point !== undefined)
    const used = known.length === 0 ? undefined : Math.max(...known.map((point) => point.used_max))
    const hour = new Date(startMs + from * 3_600_000).toISOString()
    const column = { hour, used, target: known.at(-1)?.target ?? 0 }
    for (let times = 0; times < repeated; times += 1) columns.push(column)
  }
  return columns
}

interface Plot {
  readonly columns: readonly Column[]
  readonly height: number
  readonly scale: Scale
  readonly marks: Marks
  readonly style: Style
}

/** What is left of each row of the plot: its amount at the top and in the middle. */
function sidesOf(
  labels: readonly string[],
  { height, labelWidth, marks }: { readonly height: number; readonly labelWidth: number; readonly marks: Marks },
): readonly string[] {
  return Array.from({ length: height }, (_, at) => {
    const label = at === 0 ? labels[0] : at === height / 2 ? labels[1] : undefined
    return `${(label ?? '').padStart(labelWidth)} ${label === undefined ? marks.side : marks.label}`
  })
}

/** The target where it is beyond the scale. */
function beyondLine(
  history: CapacityHistory,
  { scale, marks, style, columns }: Plot,
  indent: number,
): readonly string[] {
  const text = targetText(history)
  if (!scale.isTargetBeyond || text === undefined) return []
  const said = `${marks.beyond} ${text}, beyond the scale `
  const line = marks.target.repeat(Math.max(LINE_MIN, columns.length - said.length))
  return [`${' '.repeat(indent + 2)}${style.dim(said + line)}`]
}

interface Cell {
  readonly mark: string
  readonly paint: keyof Style | undefined
}

/** A row of cells; neighbours of one colour are painted together. */
function rowText(plot: Plot, row: number): string {
  const runs: { mark: string; paint: Cell['paint'] }[] = []
  for (const column of plot.columns) {
    const { mark, paint } = cellOf(plot, column, row)
    const last = runs.at(-1)
    if (last !== undefined && last.paint === paint) last.mark += mark
    else runs.push({ mark, paint })
  }
  return runs.map(({ mark, paint }) => (paint === undefined ? mark : plot.style[paint](mark))).join('')
}

function cellOf({ height, scale, marks }: Plot, { used, target }: Column, row: number): Cell {
  if (target > 0 && !scale.isTargetBeyond && row === Math.ceil((target / scale.top) * height) - 1)
    return { mark: marks.target, paint: 'dim' }
  const most = marks.levels.length - 1
  const eighths = used === undefined ? 0 : Math.round((used / scale.top) * height * most)
  // A little that was used is seen.
  const filled = used !== undefined && used > 0 ? Math.max(1, eighths) : 0
  const level = Math.min(most, Math.max(0, filled - row * most))
  if (level === 0) return { mark: ' ', paint: undefined }
  return { mark: marks.levels[level] ?? ' ', paint: paintOf(used ?? 0, target) }
}

function paintOf(used: number, target: number): keyof Style {
  if (target === 0 || used < target * 0.8) return 'good'
  return used < target ? 'warn' : 'bad'
}

interface Axis {
  readonly zero: string
  readonly marks: Marks
}

/** The axis of time: days where there are many, else hours too. */
function axisLines(columns: readonly Column[], { zero, marks }: Axis): readonly string[] {
  let [line, texts] = ['', '']
  for (const [at, text] of ticksOf(columns).entries()) {
    const isTick = text !== undefined && at >= texts.length
    line += isTick ? marks.tick : marks.floor
    if (isTick) texts = `${texts.padEnd(at)}${text}${' '.repeat(TICK_GAP)}`
  }
  return [`${zero} ${marks.corner}${line}`, `${' '.repeat(zero.length + 2)}${texts}`.trimEnd()]
}

/** What may stand below each column; undefined for none. */
function ticksOf(columns: readonly Column[]): readonly (string | undefined)[] {
  const days = columns.map(({ hour }) => dayText(hour))
  const isDaily = new Set(days).size > DAYS_WITH_HOURS
  return columns.map(({ hour }, at) => {
    const isNewDay = days[at] !== days[at - 1]
    const isNewHour = hour !== columns[at - 1]?.hour
    if ((at > 0 && columns.length - at < TICK_ROOM) || !(isDaily ? isNewDay && at > 0 : isNewHour)) return undefined
    if (isDaily) return days[at]
    return isNewDay ? `${days[at] ?? ''} ${hourText(hour)}` : hourText(hour)
  })
}

/** What the line means. */
function legendText(history: CapacityHistory, { scale, marks }: Plot): string {
  const text = targetText(history)
  return text === undefined || scale.isTargetBeyond ? '' : `${marks.target}${marks.target} ${text}   `
}
