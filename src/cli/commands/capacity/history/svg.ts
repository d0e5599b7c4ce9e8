import type { Drawing } from '../../nodes/topology/svg/drawing.ts'
import { px, xml } from '../../nodes/topology/svg/markup.ts'
import { page } from '../../nodes/topology/svg/page.ts'
import type { CapacityHistory } from '../answers.ts'
import { quantityText } from '../quantity.ts'
import { hoursOf, scaleOf, type Scale } from './scale.ts'
import { dayText, hourText, rangeText, summaryText, targetText } from './sentences.ts'
import { PLOT_STYLE_SHEET } from './style-sheet.ts'

const WIDTH = 720
const HEIGHT = 280
const FONT = 12
/** For the amounts on the left, and for the dates below. */
const LEFT = 96
const BELOW = 26
/** Above the scale, for a target that is beyond it. */
const ABOVE = 36
const GRID_LINES = 4
const TICKS_MAX = 8

/** The hours of a dimension as one SVG file that needs no other: an area for what was used, a line for the target. */
export function svg(history: CapacityHistory, name: string): string {
  const target = targetText(history) ?? 'no target'
  const summary = `${rangeText(history)}: ${summaryText(history)}`
  return page({
    title: `${history.dimension} of ${name}`,
    counts: summary,
    description: `Hourly maximum of ${history.dimension} of ${name}, ${summary}; ${target}.`,
    styleSheet: PLOT_STYLE_SHEET,
    drawing: drawingOf(history),
    legend: legendOf(history),
  })
}

type Hours = ReturnType<typeof hoursOf>

interface Field {
  readonly hours: Hours
  readonly scale: Scale
  /** Left edge of an hour. */
  readonly x: (hour: number) => number
  readonly y: (amount: number) => number
}

function fieldOf(history: CapacityHistory): Field {
  const hours = hoursOf(history)
  const scale = scaleOf(history)
  return {
    hours,
    scale,
    x: (hour) => LEFT + (hour / hours.length) * (WIDTH - LEFT),
    y: (amount) => ABOVE + (1 - Math.min(1, amount / scale.top)) * HEIGHT,
  }
}

function drawingOf(history: CapacityHistory): Drawing {
  const field = fieldOf(history)
  return {
    width: WIDTH,
    height: ABOVE + HEIGHT + BELOW,
    body: [...gridOf(history, field), ...ticksOf(field), ...areasOf(field), ...targetLines(history, field)],
  }
}

function gridOf({ unit }: CapacityHistory, { scale, y }: Field): readonly string[] {
  return Array.from({ length: GRID_LINES + 1 }, (_, at) => {
    const amount = (scale.top / GRID_LINES) * at
    const line = `<path class="grid" d="M${LEFT} ${px(y(amount))}H${WIDTH}"/>`
    const place = `x="${LEFT - 8}" y="${px(y(amount))}" text-anchor="end" dominant-baseline="central"`
    return `${line}<text class="faint" ${place} font-size="${FONT}">${xml(quantityText(amount, unit))}</text>`
  })
}

/** A date below the axis at regular distances; with the hour where the days are few. */
function ticksOf({ hours, x }: Field): readonly string[] {
  const firstMs = Date.parse(hours[0]?.hour ?? '')
  const every = [1, 3, 6, 12, 24, 48, 72, 120, 168].find((step) => hours.length / step <= TICKS_MAX) ?? 168
  const ticks: string[] = []
  for (let hour = 0; hour < hours.length; hour += 1) {
    const at = new Date(firstMs + hour * 3_600_000)
    if ((at.getTime() / 3_600_000) % every !== 0) continue
    const text = every < 24 ? `${dayText(at.toISOString())} ${hourText(at.toISOString())}` : dayText(at.toISOString())
    const place = `x="${px(x(hour))}" y="${ABOVE + HEIGHT + 18}" text-anchor="middle"`
    ticks.push(
      `<path class="grid" d="M${px(x(hour))} ${ABOVE + HEIGHT}v5"/><text class="faint" ${place} font-size="${FONT}">${xml(text)}</text>`,
    )
  }
  return ticks
}

/** An area for each run of hours without a gap. */
function areasOf({ hours, x, y }: Field): readonly string[] {
  const areas: string[] = []
  let path = ''
  for (const [hour, point] of [...hours, undefined].entries()) {
    if (point !== undefined) {
      path += `${path === '' ? `M${px(x(hour))} ${px(y(0))}` : ''}V${px(y(point.used_max))}H${px(x(hour + 1))}`
    } else if (path !== '') {
      areas.push(`<path class="used" d="${path}V${px(y(0))}Z"/>`)
      path = ''
    }
  }
  return areas
}

/** The target of each hour as one line of steps; at the upper edge where it is beyond the scale. */
function targetLines(history: CapacityHistory, { hours, scale, x, y }: Field): readonly string[] {
  const edge = ABOVE - 22
  let [path, isDrawn] = ['', false]
  for (const [hour, point] of hours.entries()) {
    const target = point?.target ?? 0
    const at = px(scale.isTargetBeyond ? edge : y(target))
    if (target > 0) path += `${isDrawn ? 'V' : `M${px(x(hour))} `}${at}H${px(x(hour + 1))}`
    isDrawn = target > 0
  }
  const text = targetText(history)
  if (path === '' || text === undefined) return []
  const note = scale.isTargetBeyond
    ? `<text class="faint" x="${LEFT - 8}" y="${edge}" text-anchor="end" dominant-baseline="central" font-size="${FONT}">beyond</text>`
    : ''
  return [`<path class="aim" d="${path}"><title>${xml(text)}</title></path>${note}`]
}

function legendOf(history: CapacityHistory): Drawing {
  const text = targetText(history)
  const beyond = scaleOf(history).isTargetBeyond ? ', beyond the scale' : ''
  const rows = [
    `<rect class="used" x="0" y="-9" width="24" height="12"/><text x="32" font-size="${FONT}">largest sample of the hour</text>`,
    text === undefined
      ? `<text x="32" font-size="${FONT}">no target</text>`
      : `<path class="aim" d="M0 -4h24"/><text x="32" font-size="${FONT}">${xml(text + beyond)}</text>`,
  ]
  return {
    width: WIDTH,
    height: rows.length * 22,
    body: rows.map((row, at) => `<g transform="translate(0 ${at * 22})">${row}</g>`),
  }
}
