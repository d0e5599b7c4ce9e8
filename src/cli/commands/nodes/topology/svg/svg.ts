import { counted } from '../../../../output/counts.ts'
import type { Picture, PlacedNode } from '../picture.ts'
import { groups } from './groups.ts'
import { legend } from './legend.ts'
import { matrix } from './matrix.ts'
import { page } from './page.ts'
import { ring } from './ring.ts'
import { STYLE_SHEET } from './style-sheet.ts'

/** More nodes than this make a ring that nobody can read. */
const RING_MAX = 60

/** The picture as one SVG file that needs no other: a ring, a matrix for many nodes, groups for many nodes seen from one. */
export function svg(picture: Picture, from: PlacedNode | undefined): string {
  const isRing = picture.nodes.length <= RING_MAX
  const drawing = isRing ? ring(picture) : from === undefined ? matrix(picture) : groups(from, picture)
  const key = legend(isRing ? 'ring' : from === undefined ? 'matrix' : 'groups')
  const title =
    from === undefined ? `Mesh of ${counted(picture.nodes.length, 'node')}` : `Mesh as ${from.display_name} reaches it`
  return page({
    title,
    counts: counts(picture),
    description: description(picture),
    styleSheet: STYLE_SHEET,
    drawing,
    legend: key,
  })
}

/** `6 edges: 4 direct, 2 relayed by relay-1`. */
function counts({ nodes, way }: Picture): string {
  const relayed: string[] = []
  let direct = 0
  for (const from of nodes)
    for (const to of nodes) {
      const found = way(from.node_id, to.node_id)
      if (found?.mode === 'direct') direct += 1
      else if (found) relayed.push(found.relay ?? '')
    }
  const by = [...new Set(relayed)].filter((name) => name !== '')
  const relays = by.length === 0 ? '' : ` by ${by.slice(0, 3).join(', ')}${by.length > 3 ? ', …' : ''}`
  return `${counted(direct + relayed.length, 'directed edge')}: ${direct} direct, ${relayed.length} relayed${relays}`
}

/** The picture in words, for those who do not see it. */
function description(picture: Picture): string {
  const states = new Map<string, number>()
  for (const { reachability } of picture.nodes) states.set(reachability, (states.get(reachability) ?? 0) + 1)
  const parts = [...states].map(([state, count]) => `${count} ${state.replace('_', ' ')}`)
  return `${counted(picture.nodes.length, 'node')}: ${parts.join(', ')}. ${counts(picture)}.`
}
