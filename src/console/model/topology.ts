/** A place in the picture, in px. */
export interface Place {
  readonly x: number
  readonly y: number
}

/** The most nodes that are drawn one by one, with a place for each. A larger Domain is drawn as one box for each kind. */
export const NODES_DRAWN_MAX = 2_000
/** The most nodes that are drawn as a ring, with all edges between them. */
export const RING_MAX = 60

/** Nodes in a ring, the first at the top. */
export function ring(count: number, size: number): readonly Place[] {
  const radius = size / 2 - 16
  return Array.from({ length: count }, (_, at) => {
    const angle = (at / count) * 2 * Math.PI - Math.PI / 2
    return { x: size / 2 + radius * Math.cos(angle), y: size / 2 + radius * Math.sin(angle) }
  })
}

/** A group of nodes in a grid, below its title. */
export interface GridGroup<T> {
  readonly title: string
  readonly titleY: number
  readonly cells: readonly (Place & { readonly item: T })[]
}

/** A picture of groups, one below another. */
export interface Grid<T> {
  readonly columns: number
  readonly height: number
  readonly groups: readonly GridGroup<T>[]
}

const PITCH = 22
const TITLE = 28
const GAP = 12

/** Places groups of items in rows that fit the width. */
export function grid<T>(groups: ReadonlyMap<string, readonly T[]>, width: number): Grid<T> {
  const columns = Math.max(1, Math.floor(width / PITCH))
  let top = 0
  const placed = Array.from(groups, ([title, items]) => {
    const from = top + TITLE
    const cells = items.map((item, at) => ({
      item,
      x: (at % columns) * PITCH + PITCH / 2,
      y: from + Math.floor(at / columns) * PITCH + PITCH / 2,
    }))
    top = from + Math.ceil(items.length / columns) * PITCH + GAP
    return { title, titleY: from - 8, cells }
  })
  return { columns, height: top, groups: placed }
}

/** Items by a name, the names in order. */
export function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const name = nameOf(item)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return new Map([...groups].toSorted(([a], [b]) => a.localeCompare(b, 'en')))
}

/** How packets go over an edge: as the node reports it, else as the server plans it; `away` where an end is out of reach. */
export type Way = 'direct' | 'relayed' | 'none' | 'away'

/** An edge as the picture needs it. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly mode: 'direct' | 'relayed'
  readonly path: Exclude<Way, 'away'> | null
  readonly relay_node_id?: string | undefined
}

/** @param away ids of the nodes that are out of reach: neither an older report nor the plan is how they are reached now */
export const wayOf = (
  { from, to, mode, path }: Pick<Edge, 'from' | 'to' | 'mode' | 'path'>,
  away: ReadonlySet<string>,
): Way => (away.has(from) || away.has(to) ? 'away' : (path ?? mode))

/** Ids of the nodes that do not report in time, or never did. */
export function idsAway(nodes: readonly { readonly id: string; readonly reachability: string }[]): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ id, reachability }) => (AWAY.has(reachability) ? [id] : [])))
}

const AWAY: ReadonlySet<string> = new Set(['unreachable', 'never_reported'])

/** The pairs of nodes, each once, with the worse of their two ways: out of reach, none, then relayed, then direct. */
export function pairs(
  edges: readonly Edge[],
  away: ReadonlySet<string>,
): readonly { readonly ends: readonly [string, string]; readonly way: Way }[] {
  const worst = new Map<string, { ends: readonly [string, string]; way: Way }>()
  for (const edge of edges) {
    const ends = edge.from < edge.to ? ([edge.from, edge.to] as const) : ([edge.to, edge.from] as const)
    const key = ends.join(' ')
    const way = wayOf(edge, away)
    const known = worst.get(key)
    if (known === undefined || RANK[way] > RANK[known.way]) worst.set(key, { ends, way })
  }
  return [...worst.values()]
}

const RANK = { direct: 0, relayed: 1, none: 2, away: 3 } as const

/** Where the roving focus goes from an item; undefined for a key that does not move it. */
export function moved(
  at: number,
  key: string,
  { count, columns }: { readonly count: number; readonly columns: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + columns,
    ArrowUp: at - columns,
    Home: 0,
    End: count - 1,
  }
  const to = steps[key]
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to))
}
