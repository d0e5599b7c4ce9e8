import type { Picture, PlacedNode } from '../picture.ts'
import { wayText } from '../picture.ts'
import type { Drawing } from './drawing.ts'
import { label, labelWidth, px, xml } from './markup.ts'
import { nodeMark, nodeTitle } from './node-mark.ts'

/** A row for each node that reaches, a column for each that is reached. */
export function matrix({ nodes, relays, way }: Picture): Drawing {
  const cell = cellOf(nodes.length)
  const font = cell - 2
  const edge =
    labelWidth(
      nodes.map(({ display_name }) => display_name),
      font,
    ) +
    2 * cell
  const size = nodes.length * cell
  const columns = nodes.map((to, index) => column(to, { nodes, way, x: edge + index * cell, y: edge, cell }))
  const gaps = nodes.map((_, index) => `M${edge} ${edge + (index + 1) * cell - 0.5}h${size}`)
  const mark = (node: PlacedNode, x: number, y: number): string => {
    const drawn = nodeMark(node, { x, y, radius: cell / 3, isRelay: false })
    return `<g>${drawn}<title>${nodeTitle(node)}</title></g>`
  }
  const name = (node: PlacedNode): string =>
    `${relays.has(node.node_id) ? ' class="relaying"' : ''} text-anchor="end" dominant-baseline="central">${label(node.display_name)}</text>`
  const rows = nodes.map((node, index) => {
    const y = edge + (index + 0.5) * cell
    return `<text x="${px(edge - 1.2 * cell)}" y="${px(y)}"${name(node)}${mark(node, edge - 0.6 * cell, y)}`
  })
  const heads = nodes.map((node, index) => {
    const x = edge + (index + 0.5) * cell
    const turn = `translate(${px(x)} ${px(edge - 0.4 * cell)}) rotate(90)`
    return `<text transform="${turn}"${name(node)}`
  })
  const grid = `<path class="gap" d="${gaps.join('')}"/>`
  const texts = `<g font-size="${font}">${[...rows, ...heads].join('')}</g>`
  return { width: edge + size + cell, height: edge + size + cell, body: [...columns, grid, texts] }
}

/** Larger where there are fewer, so that names can be read and the whole still fits a screen or a page. */
function cellOf(count: number): number {
  if (count <= 100) return 14
  return count <= 180 ? 11 : 9
}

interface Column extends Pick<Picture, 'nodes' | 'way'> {
  readonly x: number
  readonly y: number
  readonly cell: number
}

/** One column. Most nodes reach a node the same way: neighbours that do are one bar. */
function column(to: PlacedNode, { nodes, way, x, y, cell }: Column): string {
  const bars = new Map<string, { readonly kind: string; readonly path: string[]; count: number }>()
  for (let from = 0; from < nodes.length;) {
    const text = textAt(from)
    let end = from + 1
    while (end < nodes.length && textAt(end) === text) end += 1
    const bar = bars.get(text) ?? { kind: text.split(' ')[0] ?? '', path: [], count: 0 }
    bar.path.push(`M${px(x)} ${px(y + from * cell)}h${cell - 1}v${(end - from) * cell}h${1 - cell}z`)
    bar.count += end - from
    bars.set(text, bar)
    from = end
  }
  const drawn = [...bars].flatMap(([text, { kind, path, count }]) => {
    if (kind === '') return []
    const title = kind === 'self' ? to.display_name : `${to.display_name}: ${text}, from ${count}`
    return [`<path class="cell ${kind}" d="${path.join('')}"><title>${xml(title)}</title></path>`]
  })
  return drawn.join('')

  function textAt(index: number): string {
    const from = nodes[index]
    if (from === undefined) return ''
    if (from.node_id === to.node_id) return 'self'
    const found = way(from.node_id, to.node_id)
    return found === undefined ? '' : wayText(found)
  }
}
