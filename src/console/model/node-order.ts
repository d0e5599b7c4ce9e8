import type { NodeSummary } from '../api/operations.ts'
import { STATES } from './fleet.ts'
import { compareVersions } from '../../shared/semantic-version.ts'

/** What a list of nodes can be sorted by, as the address names it. */
export const NODE_ORDERS = ['name', 'state', 'version', 'seen'] as const

export type NodeOrderKey = (typeof NODE_ORDERS)[number]

/** A key, and the direction. */
export interface NodeOrder {
  readonly by: NodeOrderKey
  readonly isDescending: boolean
}

/** Reads `name` or, the other way round, `-name`. What is none of the keys is by name. */
export function nodeOrder(text: string | undefined): NodeOrder {
  const isDescending = text?.startsWith('-') === true
  const by = NODE_ORDERS.find((key) => key === text?.slice(isDescending ? 1 : 0))
  return by === undefined ? { by: 'name', isDescending: false } : { by, isDescending }
}

/** The text of the order after a press on the head of a column: that column, or the other way round. */
export function nextOrder({ by, isDescending }: NodeOrder, key: NodeOrderKey): string {
  return by === key && !isDescending ? `-${key}` : key
}

/** Nodes by a key; those that are equal in it by name. Nodes without a version or a report come last in both directions. */
export function sortedNodes(nodes: readonly NodeSummary[], { by, isDescending }: NodeOrder): readonly NodeSummary[] {
  const compare = COMPARE[by]
  const lacks = LACKS[by]
  const sign = isDescending ? -1 : 1
  return nodes.toSorted((a, b) => {
    const byLack = Number(lacks?.(a) ?? false) - Number(lacks?.(b) ?? false)
    return byLack || sign * compare(a, b) || byName(a, b)
  })
}

const names = new Intl.Collator('en', { numeric: true })

const byName = (a: NodeSummary, b: NodeSummary): number => names.compare(a.display_name, b.display_name)

const COMPARE: Readonly<Record<NodeOrderKey, (a: NodeSummary, b: NodeSummary) => number>> = {
  name: byName,
  state: (a, b) => STATES.indexOf(a.reachability) - STATES.indexOf(b.reachability),
  version: (a, b) => compareVersions(a.binary_version ?? '', b.binary_version ?? ''),
  seen: (a, b) => Date.parse(a.last_heartbeat_at ?? '') - Date.parse(b.last_heartbeat_at ?? '') || 0,
}

const LACKS: Partial<Readonly<Record<NodeOrderKey, (node: NodeSummary) => boolean>>> = {
  version: ({ binary_version: version }) => version === null,
  seen: ({ last_heartbeat_at: at }) => at === null,
}
