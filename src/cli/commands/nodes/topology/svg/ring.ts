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
const SPACING = 24
const RADIUS_MIN = 170
/** From more links on, lines are thin and let what is under them be seen. */
const MANY = 150

interface Point {
  readonly x: number
  readonly y: number
}

interface Spot extends Point {
  readonly node: PlacedNode
  readonly angle: number
}

/** Nodes on a ring, each edge in two halves: the half at a node shows how that node is reached. */
export function ring({ nodes, links, relays, way }: Picture): Drawing {
  const isUpright = nodes.length <= UPRIGHT_MAX
  const { spots, center, width, height } = placed(nodes, isUpright)
  const edges = spots.flatMap((spot) => halves(spot, { spots, center, way }))
  const dots = spots.map(({ node, x, y }) => {
    const mark = nodeMark(node, { x, y, radius: NODE_RADIUS, isRelay: relays.has(node.node_id) })
    return `<g>${mark}<title>${nodeTitle(node)}</title></g>`
  })
  const labels = spots.map((spot) => (isUpright ? upright(spot) : spoke(spot)))
  const lines = `<g class="${links.length > MANY ? 'many' : 'few'}">${edges.join('')}</g>`
  return { width, height, body: [lines, ...dots, `<g font-size="${FONT}">${labels.join('')}</g>`] }
}

interface Placed {
  readonly spots: readonly Spot[]
  readonly center: Point
  readonly width: number
  readonly height: number
}

/** Nodes around the middle, and as much room as their labels take. */
function placed(nodes: readonly PlacedNode[], isUpright: boolean): Placed {
  const radius = Math.max(RADIUS_MIN, (nodes.length * SPACING) / (2 * Math.PI))
  const around = nodes.map((node, index): Spot => {
    const angle = (2 * Math.PI * index) / nodes.length - Math.PI / 2
    return { node, angle, x: radius * Math.cos(angle), y: radius * Math.sin(angle) }
  })
  const ends = around.map((spot) => labelEnd(spot, isUpright))
  const [xs, ys] = [ends.map(({ x }) => x), ends.map(({ y }) => y)]
  const room = radius + 2 * NODE_RADIUS
  const center = { x: Math.max(room, -Math.min(...xs)), y: Math.max(room, -Math.min(...ys)) }
  return {
    spots: around.map((spot) => ({ ...spot, x: center.x + spot.x, y: center.y + spot.y })),
    center,
    width: center.x + Math.max(room, ...xs),
    height: center.y + Math.max(room, ...ys),
  }
}

/** Where the label of a node ends, seen from the middle. */
function labelEnd({ node, angle, x, y }: Spot, isUpright: boolean): Point {
  const width = NODE_RADIUS + 8 + labelWidth([node.display_name], FONT)
  if (!isUpright) return { x: x + width * Math.cos(angle), y: y + width * Math.sin(angle) }
  const isBeside = Math.abs(Math.cos(angle)) >= 0.2
  return isBeside ? { x: x + width * Math.sign(x), y } : { x, y: y + (NODE_RADIUS + 2 * FONT) * Math.sign(y) }
}

interface Around {
  readonly spots: readonly Spot[]
  readonly center: Point
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
    const isOtherHalfShown = way(spot.node.node_id, other.node.node_id) !== undefined
    group.lines.push(isOtherHalfShown ? halfLine(other, spot, center) : wholeLine(other, spot, center))
    byWay.set(text, group)
  }
  return [...byWay].map(([text, { mode, lines }]) => {
    const title = `${spot.node.display_name}: ${text}, from ${lines.length}`
    return `<path class="edge ${mode}" d="${lines.join('')}"><title>${xml(title)}</title></path>`
  })
}

/** A curve that is drawn a little towards the middle of the ring. */
function wholeLine(from: Spot, to: Spot, center: Point): string {
  const { x, y } = bend(from, to, center)
  return `M${px(from.x)} ${px(from.y)}Q${px(x)} ${px(y)} ${px(to.x)} ${px(to.y)}`
}

/** The second half of the same. */
function halfLine(from: Spot, to: Spot, center: Point): string {
  const { x, y } = bend(from, to, center)
  const middle = (one: number, bent: number, other: number): number => one / 4 + bent / 2 + other / 4
  const start = `M${px(middle(from.x, x, to.x))} ${px(middle(from.y, y, to.y))}`
  return `${start}Q${px((x + to.x) / 2)} ${px((y + to.y) / 2)} ${px(to.x)} ${px(to.y)}`
}

function bend(from: Point, to: Point, center: Point): Point {
  const control = (one: number, other: number, middle: number): number => ((one + other) / 2) * 0.6 + middle * 0.4
  return { x: control(from.x, to.x, center.x), y: control(from.y, to.y, center.y) }
}

function upright({ node, angle, x, y }: Spot): string {
  const cos = Math.cos(angle)
  const anchor = Math.abs(cos) < 0.2 ? 'middle' : cos > 0 ? 'start' : 'end'
  const dx = anchor === 'middle' ? 0 : Math.sign(cos) * (NODE_RADIUS + 8)
  const dy = anchor === 'middle' ? Math.sign(Math.sin(angle)) * (NODE_RADIUS + 14) : 0
  return `<text x="${px(x + dx)}" y="${px(y + dy)}" text-anchor="${anchor}" dominant-baseline="central">${label(node.display_name)}</text>`
}

/** A label that goes outwards; on the left half it is turned around, so that no label is upside down. */
function spoke({ node, angle, x, y }: Spot): string {
  const isLeft = Math.cos(angle) < -1e-9
  const degrees = (angle * 180) / Math.PI + (isLeft ? 180 : 0)
  const dx = (NODE_RADIUS + 8) * (isLeft ? -1 : 1)
  const turn = `translate(${px(x)} ${px(y)}) rotate(${px(degrees)})`
  return `<text transform="${turn}" x="${px(dx)}" text-anchor="${isLeft ? 'end' : 'start'}" dominant-baseline="central">${label(node.display_name)}</text>`
}
