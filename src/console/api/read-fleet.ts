import { SEEN_MAX, type SeenEvent } from '../model/domain-event.ts'
import type { Api } from './client.ts'
import { Failure } from './failure.ts'
import type { Domain, NodeSummary } from './operations.ts'

const PAGE = 200
/** As many nodes as a Domain is meant to have at most. */
const PAGES_MAX = 50
const DOMAIN_PAGES_MAX = 5
/** The most Domains that `readDomains` finds. */
export const DOMAINS_MAX = PAGE * DOMAIN_PAGES_MAX
/** Types of the events that change what a list of nodes shows. */
const OF_NODES = /^(node|labels)\./

/** Rows of a list from all of its pages, up to a bound. */
export async function allPages<Row>(
  pagesMax: number,
  read: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Row[]; readonly next_cursor?: string | null | undefined }>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    // Each page names the next one.
    // oxlint-disable-next-line no-await-in-loop
    const { items, next_cursor: next } = await read(cursor)
    rows.push(...items)
    if (next === null || next === undefined) break
    cursor = next
  }
  return rows
}

/** All nodes of a Domain that the person may read, at most 10,000. */
function readNodes(api: Api, domainId: string, signal: AbortSignal): Promise<readonly NodeSummary[]> {
  return allPages(PAGES_MAX, (cursor) =>
    api.call(
      'ListNodes',
      { domain_id: domainId, limit: String(PAGE), ...(cursor !== undefined && { cursor }) },
      signal,
    ),
  )
}

/** The nodes as they were read, and up to where the events are in them. */
export interface FleetRead {
  readonly nodes: readonly NodeSummary[]
  /** How many requests it took; at least 1. */
  readonly requests: number
  /** Id of the last event before the read; undefined where there was none. */
  readonly lastEventId: string | undefined
  /** How often everything was stale before the read. */
  readonly resyncs: number
}

export interface FleetAsking {
  readonly domainId: string
  /** The last read; undefined at first. */
  readonly former: FleetRead | undefined
  readonly events: readonly SeenEvent[]
  readonly resyncs: number
}

/** Reads the nodes that events name one by one where that takes fewer requests than all pages, else all. */
export async function readFleet(api: Api, asking: FleetAsking, signal: AbortSignal): Promise<FleetRead> {
  const { domainId, former, events, resyncs } = asking
  const at = { lastEventId: events.at(-1)?.id, resyncs }
  const ids = former === undefined || former.resyncs !== resyncs ? undefined : changedSince(former, events)
  if (former === undefined || ids === undefined || ids.size >= former.nodes.length / PAGE) {
    const nodes = await readNodes(api, domainId, signal)
    return { ...at, nodes, requests: Math.max(1, Math.ceil(nodes.length / PAGE)) }
  }
  const read = await Promise.all([...ids].map(async (id) => [id, await readNode(api, id, signal)] as const))
  return { ...at, nodes: merged(former.nodes, new Map(read)), requests: Math.max(1, ids.size) }
}

/**
 * Ids of the nodes that changed after a read; undefined where some of the events are not known any more, or changed more than nodes, such
 * as a label of a Project.
 */
function changedSince({ lastEventId }: FleetRead, events: readonly SeenEvent[]): ReadonlySet<string> | undefined {
  const from = events.findIndex(({ id }) => id === lastEventId)
  if (from === -1 && (lastEventId !== undefined || events.length === SEEN_MAX)) return undefined
  const objects = events.slice(from + 1).flatMap(({ type, object }) => (OF_NODES.test(type) ? [object] : []))
  if (objects.some((object) => !object.startsWith('node:'))) return undefined
  return new Set(objects.map((object) => object.slice('node:'.length)))
}

/** Undefined for a node that has left, or that the person may not read any more. */
async function readNode(api: Api, id: string, signal: AbortSignal): Promise<NodeSummary | undefined> {
  try {
    return await api.call('GetNode', { id }, signal)
  } catch (error) {
    if (error instanceof Failure && [403, 404].includes(error.status)) return undefined
    throw error
  }
}

/** The nodes with those that were read; new ones are last. */
function merged(
  nodes: readonly NodeSummary[],
  read: ReadonlyMap<string, NodeSummary | undefined>,
): readonly NodeSummary[] {
  const known = new Set(nodes.map(({ id }) => id))
  const added = [...read].flatMap(([id, node]) => (known.has(id) || node === undefined ? [] : [node]))
  const others = nodes.flatMap((node) => (read.has(node.id) ? (read.get(node.id) ?? []) : [node]))
  return [...others, ...added]
}

/** The Domains that the person may read, at most 1,000. */
export function readDomains(api: Api, signal: AbortSignal): Promise<readonly Domain[]> {
  return allPages(DOMAIN_PAGES_MAX, (cursor) =>
    api.call('ListDomains', { limit: String(PAGE), ...(cursor !== undefined && { cursor }) }, signal),
  )
}
