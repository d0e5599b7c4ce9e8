import type { Edge, Picture, PlacedNode } from '../picture.ts'
import { wayText } from '../picture.ts'
import type { Drawing } from './drawing.ts'
import { label, labelWidth, px, xml } from './markup.ts'
import { nodeMark, nodeTitle } from './node-mark.ts'

/** Up to so many labels stand upright beside their nodes; more stand like spokes. */
const UPRIGHT_MAX = 8
const FONT = 13
const NODE_RADIUS = 7
/** Between two nodes along the ring. */
const SPACING = 22
const RADIUS_MIN = 150

interface Spot {
  readonly node: PlacedNode
  readonly angle: number
  readonly x: number
  readonly y: number
}

/** Nodes on a ring, each edge in two halves: the half at a node shows how that node is reached. */
export function ring({ nodes, relays, way }: Picture): Drawing {
  const radius = Math.max(RADIUS_MIN, (nodes.length * SPACING) / (2 * Math.PI))
  const reach =
    radius +
    NODE_RADIUS +
    16 +
    labelWidth(
      nodes.map(({ display_name }) => display_name),
      FONT,
    )
  const spots = nodes.map((node, index): Spot => {
    const angle = (2 * Math.PI * index) / nodes.length - Math.PI / 2
    return { node, angle, x: reach + radius * Math.cos(angle), y: reach + radius * Math.sin(angle) }
  })
  const edges = spots.flatMap((spot) => halves(spot, { spots, center: reach, way }))
  const dots = spots.map(
    ({ node, x, y }) =>
      `<g>${nodeMark(node, { x, y, radius: NODE_RADIUS, isRelay: relays.has(node.node_id) })}<title>${nodeTitle(node)}</title></g>`,
  )
  const isUpright = nodes.length <= UPRIGHT_MAX
  const labels = spots.map((spot) => (isUpright ? upright(spot) : spoke(spot)))
  const density = nodes.length > 24 ? 'many' : 'few'
  const lines = `<g class="lines ${density}">${edges.join('')}</g>`
  return {
    width: 2 * reach,
    height: 2 * reach,
    body: [lines, ...dots, `<g font-size="${FONT}">${labels.join('')}</g>`],
  }
}

interface Around {
  readonly spots: readonly Spot[]
  readonly center: number
  readonly way: Picture['way']
}

/** The halves of all edges at one node, as one path for each way. */
function halves(spot: Spot, { spots, center, way }: Around): readonly string[] {
  const byWay = new Map<string, { readonly mode: Edge['mode']; readonly lines: string[] }>()
  for (const other of spots) {
    const found = way(other.node.node_id, spot.node.node_id)
    if (found === undefined) continue
    const text = wayText(found)
    const group = byWay.get(text) ?? { mode: found.mode, lines: [] }
    group.lines.push(halfLine(other, spot, center))
    byWay.set(text, group)
  }
  return [...byWay].map(([text, { mode, lines }]) => {
    const title = `${spot.node.display_name}: ${text}, from ${lines.length}`
    return `<path class="${mode}" d="${lines.join('')}"><title>${xml(title)}</title></path>`
  })
}

/** The second half of a curve that is drawn a little towards the middle of the ring. */
function halfLine(from: Spot, to: Spot, center: number): string {
  const control = (one: number, other: number): number => ((one + other) / 2) * 0.6 + center * 0.4
  const [cx, cy] = [control(from.x, to.x), control(from.y, to.y)]
  const middle = (one: number, bend: number, other: number): number => one / 4 + bend / 2 + other / 4
  const start = `M${px(middle(from.x, cx, to.x))} ${px(middle(from.y, cy, to.y))}`
  return `${start}Q${px((cx + to.x) / 2)} ${px((cy + to.y) / 2)} ${px(to.x)} ${px(to.y)}`
}

function upright({ node, angle, x, y }: Spot): string {
  const cos = Math.cos(angle)
  const anchor = Math.abs(cos) < 0.2 ? 'middle' : cos > 0 ? 'start' : 'end'
  const dx = anchor === 'middle' ? 0 : Math.sign(cos) * (NODE_RADIUS + 8)
  const dy = anchor === 'middle' ? Math.sign(Math.sin(angle)) * (NODE_RADIUS + 14) : 0
  return `<text x="${px(x + dx)}" y="${px(y + dy)}" text-anchor="${anchor}" dominant-baseline="central">${label(node.display_name)}</text>`
}

/** A label that goes outwards; on the left half it is turned around, so that none stands on its head. */
function spoke({ node, angle, x, y }: Spot): string {
  const isLeft = Math.cos(angle) < -1e-9
  const degrees = (angle * 180) / Math.PI + (isLeft ? 180 : 0)
  const dx = (NODE_RADIUS + 8) * (isLeft ? -1 : 1)
  const turn = `translate(${px(x)} ${px(y)}) rotate(${px(degrees)})`
  return `<text transform="${turn}" x="${px(dx)}" text-anchor="${isLeft ? 'end' : 'start'}" dominant-baseline="central">${label(node.display_name)}</text>`
}
