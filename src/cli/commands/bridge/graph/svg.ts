import { counted } from '../../../output/counts.ts'
import type { Drawing } from '../../nodes/topology/svg/drawing.ts'
import { label, px, xml } from '../../nodes/topology/svg/markup.ts'
import { page } from '../../nodes/topology/svg/page.ts'
import { pathOf, type Curve } from '../../policies/graph/arrows.ts'
import { layout, FONT, LINE, type Band, type Box } from './layout.ts'
import { legend } from './legend.ts'
import { targetsOf, type BridgePicture, type Entrance, type Side } from './picture.ts'
import { BRIDGE_STYLE_SHEET } from './style-sheet.ts'

/** Bridges as one SVG file that needs no other: boxes in columns, an arrow for each way that connections go. */
export function svg(pictures: readonly BridgePicture[]): string {
  const names = pictures.map(({ bridge }) => bridge.name)
  return page({
    title: names.length === 1 ? `Bridge ${names[0] ?? ''}` : counted(names.length, 'bridge'),
    counts: countsOf(pictures),
    description: `${countsOf(pictures)}. ${pictures.map(described).join(' ')}`,
    styleSheet: BRIDGE_STYLE_SHEET,
    drawing: drawingOf(pictures),
    legend: legend(),
  })
}

function countsOf(pictures: readonly BridgePicture[]): string {
  const sides = pictures.flatMap((one) => one.sides)
  const sites = sides.filter(({ kind }) => kind === 'site').length
  const entrances = pictures.flatMap((one) => one.entrances).length
  const relays = pictures.filter(({ bridge }) => bridge.isRelaying).length
  return [
    counted(sites, 'other site'),
    counted(sides.length - sites, 'user-access provider'),
    counted(entrances, 'ingress host'),
    counted(relays, 'enabled relay'),
  ].join(', ')
}

function described({ bridge, sides, entrances }: BridgePicture): string {
  const behind = sides.map(({ name, lines }) => `${name} (${lines.join(', ')})`)
  const hosts = entrances.map(({ name, target, port }) => `${name} to ${target}:${port}`)
  return `${bridge.name}: ${[...bridge.lines, ...behind, ...hosts].join('; ')}.`
}

function drawingOf(pictures: readonly BridgePicture[]): Drawing {
  const { bands, width, height } = layout(pictures)
  return { width, height, body: bands.flatMap(bandBody) }
}

function bandBody({ picture, bridge, sides, entrances, targets }: Band): readonly string[] {
  const nodes = targetsOf(picture)
  const bySide = sides.flatMap((box, at) => sideArrow(picture.sides[at], curveBetween(box, bridge)))
  const byEntrance = entrances.flatMap((box, at) => {
    const entrance = picture.entrances[at]
    const target = targets[nodes.indexOf(entrance?.target ?? '')]
    return entrance === undefined || target === undefined ? [] : entranceArrows(entrance, { bridge, box, target })
  })
  return [
    ...bySide,
    ...byEntrance,
    ...sides.map((box, at) => boxOf(box, picture.sides[at]?.kind ?? 'site')),
    boxOf(bridge, picture.bridge.isRelaying ? 'bridge relaying' : 'bridge'),
    ...entrances.map((box) => boxOf(box, 'entrance')),
    ...targets.map((box) => boxOf(box, 'target')),
  ]
}

/** From the right side of one box to the left side of the other. */
function curveBetween(from: Box, to: Box): Curve {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 }
  const end = { x: to.x, y: to.y + to.height / 2 }
  const turn = (end.x - start.x) / 2
  return [start, { x: start.x + turn, y: start.y }, { x: end.x - turn, y: end.y }, end]
}

function reversed([from, leaving, arriving, to]: Curve): Curve {
  return [to, arriving, leaving, from]
}

const VERBS: Readonly<Record<Side['flow'], string>> = {
  bidirectional: 'connections go both ways',
  ingress_only: 'connections come in',
  egress_only: 'connections go out',
}

function sideArrow(side: Side | undefined, curve: Curve): readonly string[] {
  if (side === undefined) return []
  const ways = { bidirectional: [curve, reversed(curve)], ingress_only: [curve], egress_only: [reversed(curve)] }
  return [arrow(side.kind, ways[side.flow].map(pathOf).join(''), `${side.name}: ${VERBS[side.flow]}`)]
}

interface Ends {
  readonly bridge: Box
  readonly box: Box
  readonly target: Box
}

function entranceArrows({ name, target: node, port }: Entrance, { bridge, box, target }: Ends): readonly string[] {
  const title = `${name} → ${node}:${port}`
  const out = curveBetween(box, target)
  const [start, , , end] = out
  const at = `x="${px((start.x + end.x) / 2)}" y="${px((start.y + end.y) / 2 - 6)}" text-anchor="middle"`
  return [
    arrow('entrance', pathOf(curveBetween(bridge, box)), title),
    arrow('entrance', pathOf(out), title),
    `<text class="flow" ${at}>:${port}</text>`,
  ]
}

function arrow(kind: string, path: string, title: string): string {
  return `<path class="arrow ${kind}" d="${path}"><title>${xml(title)}</title></path>`
}

function boxOf({ x, y, width, height, item }: Box, kind: string): string {
  const place = `x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}"`
  const all = [item.name, ...item.lines]
  const texts = all.map((line, index) => {
    const at = y + height / 2 + (index - (all.length - 1) / 2) * LINE
    const style = index === 0 ? 'head' : 'faint'
    return `<text class="${style}" x="${px(x + width / 2)}" y="${px(at)}" text-anchor="middle" dominant-baseline="central">${label(line)}</text>`
  })
  return `<g font-size="${FONT}"><rect class="box ${kind}" ${place} rx="${kind === 'target' ? px(height / 2) : 6}"/>${texts.join('')}<title>${xml(all.join(', '))}</title></g>`
}
