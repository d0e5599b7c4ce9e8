import type { Drawing } from '../../nodes/topology/svg/drawing.ts'

const FONT = 12
const ROW = 22
/** Wide enough for the longest row. */
const WIDTH = 450

const ROWS = [
  ['some', 'these protocols and ports may pass'],
  ['any', 'everything may pass'],
] as const

/** What the marks of a picture of policies mean. */
export function legend(): Drawing {
  const rows = ROWS.map(
    ([kind, text], row) =>
      `<g transform="translate(0 ${row * ROW})"><path class="arrow ${kind}" d="M0 -4h24M17 -8l7 4l-7 4"/><text x="32" font-size="${FONT}">${text}</text></g>`,
  )
  const note = `<text class="faint" x="0" y="${ROWS.length * ROW}" font-size="${FONT}">Point at an arrow for what passes, at a box for its nodes. Without an arrow nothing passes.</text>`
  return { width: WIDTH, height: ROWS.length * ROW, body: [...rows, note] }
}
