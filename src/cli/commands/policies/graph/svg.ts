import { counted } from '../../../output/counts.ts'
import type { Drawing } from '../../nodes/topology/svg/drawing.ts'
import { label, labelWidth, px, xml } from '../../nodes/topology/svg/markup.ts'
import { page } from '../../nodes/topology/svg/page.ts'
import { arrowBetween, pathOf, type Curve } from './arrows.ts'
import { flowLabels } from './flow-labels.ts'
import { nameOf, policiesOf, shortNameOf, type Graph, type Group } from './groups.ts'
import { layout, type Box, type BoxSize } from './layout.ts'
import { legend } from './legend.ts'
import { GRAPH_STYLE_SHEET } from './style-sheet.ts'

const FONT = 13
const LINE = 17
const PADDING = 12
/** Policies that a box names, each on a line of its own; fewer where there are many boxes. */
const NAMED = { few: 3, many: 2 }
const MANY_GROUPS = 16
/** With more arrows, lines are thin and what passes is in tooltips alone. */
const LABELLED_ARROWS_MAX = 30

/** The graph as one SVG file that needs no other: groups as boxes, an arrow for each direction in which something may pass. */
export function svg(graph: Graph): string {
  return page({
    title: `Policies of ${counted(nodesIn(graph), 'node')}`,
    counts: countsOf(graph),
    description: `${countsOf(graph)}. ${graph.groups.map((group) => `${policiesOf(group)}: ${counted(group.node_count, 'node')}`).join('; ')}.`,
    styleSheet: GRAPH_STYLE_SHEET,
    drawing: drawingOf(graph),
    legend: legend(),
  })
}

function nodesIn({ groups }: Graph): number {
  return groups.reduce((sum, { node_count: count }) => sum + count, 0)
}

function countsOf({ groups, edges, omitted_groups: omitted }: Graph): string {
  const more = omitted > 0 ? `; ${counted(omitted, 'smaller group')} left out` : ''
  return `${counted(groups.length, 'group')}, ${counted(edges.length, 'allowed direction')}${more}`
}

function drawingOf({ groups, edges }: Graph): Drawing {
  const lines = groups.map((group) => linesOf(group, groups.length > MANY_GROUPS ? NAMED.many : NAMED.few))
  const size = {
    width: labelWidth(lines.flat(), FONT) + 2 * PADDING,
    height: Math.max(1, ...lines.map(({ length }) => length)) * LINE + 2 * PADDING,
  }
  const { boxes, width, height } = layout(groups.length, size)
  const places = new Map(groups.map(({ group }, place) => [group, place]))
  const arrows = edges.flatMap((edge): readonly Arrow[] => {
    const [from, to] = [places.get(edge.from) ?? -1, places.get(edge.to) ?? -1]
    const curve = arrowBetween(boxes, { from, to })
    const [sender, receiver] = [groups[from], groups[to]]
    if (curve === undefined || sender === undefined || receiver === undefined) return []
    return [{ curve, sender, receiver, flows: edge.flows.join(', ') }]
  })
  const isFew = arrows.length <= LABELLED_ARROWS_MAX
  const between = arrows.filter(({ sender, receiver }) => sender !== receiver)
  const drawn = boxes.map((box, place) => boxOf(box, size, { group: groups[place], lines: lines[place] ?? [] }))
  const body = [`<g class="${isFew ? 'few' : 'many'}">${arrows.map(arrowOf).join('')}</g>`, ...drawn]
  const areas = boxes.map(({ center }) => ({ ...size, center }))
  return { width, height, body: isFew ? [...body, ...flowLabels(between, areas)] : body }
}

/** What a box says: its policies, and how many nodes it is. */
function linesOf({ policies: slugs, node_count: count }: Group, named: number): readonly string[] {
  const isWhole = slugs.length <= named
  const shown = isWhole ? slugs : slugs.slice(0, named - 1)
  const more = isWhole ? [] : [`and ${slugs.length - shown.length} more`]
  return [...(slugs.length === 0 ? ['no policy'] : shown), ...more, counted(count, 'node')]
}

interface Arrow {
  readonly curve: Curve
  readonly sender: Group
  readonly receiver: Group
  readonly flows: string
}

function arrowOf({ curve, sender, receiver, flows }: Arrow): string {
  const title = `${shortNameOf(sender)} → ${shortNameOf(receiver)}: ${flows}`
  const kind = flows === 'any' ? 'any' : 'some'
  return `<path class="arrow ${kind}" d="${pathOf(curve)}"><title>${xml(title)}</title></path>`
}

interface Boxed {
  readonly group: Group | undefined
  readonly lines: readonly string[]
}

function boxOf({ center: { x, y } }: Box, { width, height }: BoxSize, { group, lines }: Boxed): string {
  const place = `x="${px(x - width / 2)}" y="${px(y - height / 2)}" width="${px(width)}" height="${px(height)}"`
  const texts = lines.map((line, index) => {
    const at = y + (index - (lines.length - 1) / 2) * LINE
    const kind = index === lines.length - 1 ? ' class="faint"' : ''
    return `<text${kind} x="${px(x)}" y="${px(at)}" text-anchor="middle" dominant-baseline="central">${label(line)}</text>`
  })
  const title = group === undefined ? '' : `<title>${xml(nameOf(group))}</title>`
  return `<g font-size="${FONT}"><rect class="box" ${place} rx="6"/>${texts.join('')}${title}</g>`
}
