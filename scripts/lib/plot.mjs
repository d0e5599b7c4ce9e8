import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'

const PANEL = { width: 360, height: 200, left: 64, right: 12, top: 34, bottom: 30 }
const COLUMNS = 3
const HEAD = 44
/** Above this share of the largest to the smallest value, steps by tens show more than equal ones. */
const LOG_FROM = 50

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text) => String(text).replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign])

/**
 * Draws small charts below each other, one for each figure.
 *
 * @param panels `{ name, points: [{ x, y }] }`; `x` is a Date or a number, in rising order
 * @returns a document of SVG, which follows the dark mode of its reader
 */
export function plot({ title, panels }) {
  const rows = Math.ceil(panels.length / COLUMNS)
  const [width, height] = [PANEL.width * Math.min(COLUMNS, panels.length), HEAD + PANEL.height * rows]
  const drawn = panels.map((panel, index) => {
    const [x, y] = [PANEL.width * (index % COLUMNS), HEAD + PANEL.height * Math.floor(index / COLUMNS)]
    return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11">
<style>svg{background:#fff;fill:#222}.grid{stroke:#ddd}.line{stroke:#1d5fd1;fill:none;stroke-width:1.5}circle{fill:#1d5fd1}@media(prefers-color-scheme:dark){svg{background:#16181d;fill:#ddd}.grid{stroke:#333}.line{stroke:#7fb0ff}circle{fill:#7fb0ff}}</style>
<text x="12" y="26" font-size="16">${escaped(title)}</text>
${drawn.join('\n')}
</svg>
`
}

function drawPanel({ name, points }) {
  const [x, y] = [scaleOfX(points), scaleOfY(points)]
  const path = line(
    (point) => x(point.x),
    (point) => y(point.y),
  )(points)
  const formatX = x.tickFormat(4)
  const formatY = y.tickFormat(4, '~s')
  const gridY = y.ticks(4).flatMap((tick) => {
    const label = formatY(tick)
    return label === ''
      ? []
      : `<line class="grid" x1="${PANEL.left}" x2="${PANEL.width - PANEL.right}" y1="${y(tick)}" y2="${y(tick)}"/><text x="${PANEL.left - 6}" y="${y(tick) + 4}" text-anchor="end">${escaped(label)}</text>`
  })
  const labelsX = x
    .ticks(4)
    .map(
      (tick) => `<text x="${x(tick)}" y="${PANEL.height - 12}" text-anchor="middle">${escaped(formatX(tick))}</text>`,
    )
  const dots = points.map((point) => `<circle cx="${x(point.x)}" cy="${y(point.y)}" r="2.5"/>`)
  return `<text x="12" y="18">${escaped(name)}</text>${gridY.join('')}${labelsX.join('')}<path class="line" d="${path}"/>${dots.join('')}`
}

function scaleOfX(points) {
  const [first, last] = [points[0].x, points.at(-1).x]
  const range = [PANEL.left, PANEL.width - PANEL.right]
  if (first instanceof Date) return scaleUtc([first, last], range)
  return (first > 0 && last / first >= LOG_FROM ? scaleLog : scaleLinear)([first, last], range)
}

function scaleOfY(points) {
  const values = points.map(({ y }) => y)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const range = [PANEL.height - PANEL.bottom, PANEL.top]
  if (least > 0 && most / least >= LOG_FROM) return scaleLog([least, most], range).nice()
  return scaleLinear([Math.min(0, least), most === 0 ? 1 : most], range).nice()
}
