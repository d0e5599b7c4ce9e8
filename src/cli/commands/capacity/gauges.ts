import { shortDuration } from '../../argv/duration.ts'
import { relative } from '../../output/cells.ts'
import { harmless, type Style } from '../../output/style.ts'
import { fitted, padded } from '../../output/width.ts'
import type { DimensionUse, DomainCapacity } from './answers.ts'
import { ratioText, shareText } from './quantity.ts'

/** How and where gauges are drawn. */
export interface Canvas {
  readonly style: Style
  /** Columns of the terminal. */
  readonly columns: number
  readonly nowMs: number
}

const NAME_WIDTH = 20
const RATIO_WIDTH = 6
const GAP = '  '
const BAR_CELLS_MAX = 30
/** A shorter bar is left out. */
const BAR_CELLS_MIN = 8

/** A sample on one screen: a gauge for each dimension. */
export function gaugeLines(name: string, capacity: DomainCapacity, canvas: Canvas): readonly string[] {
  const { dimensions, sampled_at: sampledAt } = capacity
  const { style, columns, nowMs } = canvas
  const title = fitted(`${harmless(name)}, sampled ${relative(sampledAt, nowMs)}`, columns)
  const tails = tailsOf(dimensions)
  const widest = Math.max(0, ...tails.map(({ length }) => length))
  const head = NAME_WIDTH + GAP.length + RATIO_WIDTH + GAP.length
  const left = Math.min(BAR_CELLS_MAX, columns - head - widest)
  const cells = left < BAR_CELLS_MIN ? 0 : left
  const lines = dimensions.map((use, at) => {
    const tail = fitted(tails[at] ?? '', Math.max(1, columns - head - cells))
    return gaugeLine(use, { cells, tail, style })
  })
  return [style.bold(title), ...lines]
}

/** What is behind the ratio of each dimension. */
function tailsOf(dimensions: readonly DimensionUse[]): readonly string[] {
  const shares = dimensions.map(({ used, target, unit }) => shareText(used, target, unit))
  const width = Math.max(0, ...shares.map(({ length }) => length))
  return dimensions.map((use, at) => `${padded(shares[at] ?? '', width)}${GAP}${marksText(use)}`.trimEnd())
}

interface Drawn {
  /** Of the bar; 0: none. */
  readonly cells: number
  /** What is behind the ratio. */
  readonly tail: string
  readonly style: Style
}

function gaugeLine(use: DimensionUse, { cells, tail, style }: Drawn): string {
  const paint = style[paintOf(use)]
  const name = padded(harmless(use.dimension), NAME_WIDTH)
  const measured = paint(`${barOf(use, cells)}${ratioText(use.ratio).padStart(RATIO_WIDTH)}`)
  return `${name}${GAP}${measured}${GAP}${use.over_threshold ? tail.replace(OVER, paint) : tail}`.trimEnd()
}

/** Green below the threshold, yellow over it, red where nothing is left; dim without a target. */
function paintOf({ ratio, over_threshold: isOver }: DimensionUse): keyof Style {
  if (ratio === null) return 'dim'
  if (ratio >= 1) return 'bad'
  return isOver ? 'warn' : 'good'
}

const OVER = 'OVER'

/** `OVER  full in 12d  ENFORCED`, without what does not hold. */
function marksText({ over_threshold: isOver, days_until_full: days, enforced }: DimensionUse): string {
  const marks = [isOver ? OVER : '', days === null ? '' : fullText(days), enforced ? 'ENFORCED' : '']
  return marks.filter((mark) => mark !== '').join(GAP)
}

const DAY_SECONDS = 86_400

function fullText(days: number): string {
  const seconds = days * DAY_SECONDS
  return seconds < 60 ? 'full now' : `full in ${shortDuration(seconds)}`
}

/** A little that is used has a cell at least, and what is not full lacks one. */
function barOf({ ratio, used }: DimensionUse, cells: number): string {
  if (cells === 0 || ratio === null) return ' '.repeat(cells)
  const least = used > 0 ? 1 : 0
  const most = ratio < 1 ? cells - 1 : cells
  const full = Math.min(most, Math.max(least, Math.round(ratio * cells)))
  return `${'█'.repeat(full)}${'░'.repeat(cells - full)}`
}
