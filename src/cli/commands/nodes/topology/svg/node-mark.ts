import { px, xml } from './markup.ts'
import type { PlacedNode } from '../picture.ts'

/** What a tooltip says of a node. */
export function nodeTitle({ display_name, mesh_address, reachability, endpoint }: PlacedNode): string {
  const where = endpoint === '' ? 'no endpoint' : endpoint
  return xml([display_name, mesh_address, reachability.replace('_', ' '), where].join(', '))
}

export interface Mark {
  readonly x: number
  readonly y: number
  readonly radius: number
  readonly isRelay: boolean
}

/** A node as a dot: its fill says how it is, so does its outline, and a ring around it that it relays. */
export function nodeMark({ reachability }: Pick<PlacedNode, 'reachability'>, { x, y, radius, isRelay }: Mark): string {
  const ring = isRelay ? `<circle class="relay" cx="${px(x)}" cy="${px(y)}" r="${px(radius + 4)}"/>` : ''
  return `${ring}<circle class="node ${reachability}" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"/>`
}
