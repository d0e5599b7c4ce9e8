import { counted } from '../../../../output/counts.ts'
import { reachedFrom, type Picture, type PlacedNode } from '../picture.ts'
import type { Drawing } from './drawing.ts'
import { xml } from './markup.ts'
import { nodeMark, nodeTitle } from './node-mark.ts'

const COLUMNS = 50
const CELL = 16
const HEAD = 34

/** The nodes that one node reaches, as dots, grouped by the way that it does. */
export function groups(from: PlacedNode, picture: Picture): Drawing {
  const body: string[] = []
  let y = 0
  for (const [text, members] of reachedFrom(from.node_id, picture)) {
    const title = `${from.display_name} reaches ${counted(members.length, 'node')}: ${text}`
    body.push(`<text class="head" x="0" y="${y + HEAD - 12}" font-size="14">${xml(title)}</text>`)
    y += HEAD
    body.push(...dots(members, { y, relays: picture.relays }))
    y += Math.ceil(members.length / COLUMNS) * CELL
  }
  return { width: COLUMNS * CELL, height: y, body }
}

interface Dotted {
  readonly y: number
  readonly relays: ReadonlySet<string>
}

function dots(nodes: readonly PlacedNode[], { y, relays }: Dotted): readonly string[] {
  return nodes.map((node, index) => {
    const at = { x: ((index % COLUMNS) + 0.5) * CELL, y: y + (Math.floor(index / COLUMNS) + 0.5) * CELL }
    const drawn = nodeMark(node, { ...at, radius: CELL / 3, isRelay: relays.has(node.node_id) })
    return `<g>${drawn}<title>${nodeTitle(node)}</title></g>`
  })
}
