import type { Drawing } from '../../nodes/topology/svg/drawing.ts'

const FONT = 12
const ROW = 22
/** Wide enough for the longest row. */
const WIDTH = 450

const ROWS = [
  [
    '<path class="arrow site" d="M0 -4h24M17 -8l7 4l-7 4"/>',
    'tunnel to another site; the arrow says who may begin connections',
  ],
  ['<path class="arrow users" d="M0 -4h24M17 -8l7 4l-7 4"/>', 'user access'],
  [
    '<path class="arrow entrance" d="M0 -4h24M17 -8l7 4l-7 4"/>',
    'public ingress, by the server name of TLS, to a node and its port',
  ],
  ['<rect class="box bridge relaying" x="1" y="-11" width="22" height="14" rx="3"/>', 'bridge whose hosts relay'],
] as const

/** What the marks of a picture of bridges mean. */
export function legend(): Drawing {
  const body = ROWS.map(
    ([mark, text], row) =>
      `<g transform="translate(0 ${row * ROW})">${mark}<text x="34" font-size="${FONT}">${text}</text></g>`,
  )
  return { width: WIDTH, height: (ROWS.length - 1) * ROW, body }
}
