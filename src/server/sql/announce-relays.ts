import { sql } from 'kysely'
import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Db } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { endpointChange } from './endpoint-change.ts'
import { formatEndpoint } from './endpoint-text.ts'
import { relaysOf, readHops, readPreferences, createFallbacks, type RelayHop } from './relay-hops.ts'
import { relayTo } from './edge-mode.ts'

/** A part of a change. */
type RelayChange = Pick<Change, 'db' | 'emit'>

/** Nodes to which other relays carry edges than before, or the same ones that are reached elsewhere; `all`: those of the Domain. */
export type Relayed = readonly string[] | 'all'

/**
 * Announces to the peers of nodes where the relay of their edges is reached now. Call it in the transaction that changes
 * that, after the rows are written and the revision of the peers is raised. Above the number of peers that a hint lists,
 * every node of the Domain is asked to pull.
 *
 * Where nodes see only some of the others, some see the relay from now on: it is announced too, and who does not know it
 * pulls. A node that need not see a former relay any more finds that at its next pull.
 */
export async function announceRelays(change: RelayChange, domainId: string, relayed: Relayed): Promise<void> {
  if (relayed.length === 0) return
  if (relayed === 'all' || relayed.length > PEERS_INLINE_MAX) return announceAll(change, domainId)
  const hops = await readHops(change.db, domainId)
  const preferences = await readPreferences(change.db, relayed)
  const named = (await isFiltered(change.db, domainId))
    ? [...relayed, ...carriersOf(relayed, { hops, preferences })]
    : relayed
  const fallbackOf = createFallbacks(hops)
  for (const { nodeId, ...reached } of await readEndpoints(change.db, domainId, [...new Set(named)])) {
    const fallback = fallbackOf(nodeId, preferences.get(nodeId) ?? null)
    const payload = endpointChange(nodeId, { ...reached, fallback })
    change.emit({ event: 'peer_relay_changed', domainId, aggregate: `node:${nodeId}`, payload })
  }
}

function announceAll({ emit }: RelayChange, domainId: string): void {
  emit({ event: 'domain_relays_changed', domainId, aggregate: `domain:${domainId}`, payload: {} })
}

function carriersOf(
  nodeIds: readonly string[],
  { hops, preferences }: { readonly hops: readonly RelayHop[]; readonly preferences: ReadonlyMap<string, string> },
): readonly string[] {
  const relays = relaysOf(hops)
  return nodeIds.flatMap((id) => relayTo(id, relays, preferences.get(id)) ?? [])
}

async function isFiltered(tx: Db, domainId: string): Promise<boolean> {
  const row = await tx.selectFrom('domains').select('peer_visibility').where('id', '=', domainId).executeTakeFirst()
  return row?.peer_visibility === 'reachable'
}

interface FoundEndpoint {
  readonly nodeId: string
  /** Empty where none is known that is fresh. */
  readonly endpoint: string
  readonly candidates: readonly string[]
}

/** The endpoints of those of the nodes that the Domain has, by node id. */
async function readEndpoints(tx: Db, domainId: string, nodeIds: readonly string[]): Promise<readonly FoundEndpoint[]> {
  const { rows } = await sql<EndpointRow>`
    select n.id, e.last_endpoint as host, e.last_endpoint_port as port, coalesce(e.candidates, '{}') as candidates
    from nodes as n left join node_endpoints as e on e.node_id = n.id and e.last_endpoint_stale_at is null
    where n.domain_id = ${domainId} and n.id = any(${nodeIds}::uuid[]) order by n.id`.execute(tx)
  return rows.map(({ id, host, port, candidates }) => {
    return { nodeId: id, endpoint: formatEndpoint(host, port), candidates }
  })
}

interface EndpointRow {
  readonly id: string
  readonly host: string | null
  readonly port: number | null
  readonly candidates: readonly string[]
}

/**
 * Whose edges these nodes carry, as the Domain's relays or those of bridges that nodes prefer. Call it under the lock of the
 * Domain's peers.
 */
export async function relayedBy(tx: Db, hops: readonly RelayHop[], nodeIds: readonly string[]): Promise<Relayed> {
  const carries = hops.filter(({ nodeId }) => nodeIds.includes(nodeId))
  if (carries.some(({ bridgeId }) => bridgeId === null)) return 'all'
  const bridgeIds = carries.flatMap(({ bridgeId }) => bridgeId ?? [])
  return bridgeIds.length === 0 ? [] : membersOf(tx, bridgeIds)
}

/** Nodes of one change whose rows are marked one by one; with more, the whole is. */
export const MARKED_MAX = 1_000

/** The nodes that prefer one of the bridges, ascending; `all` where they are many. */
export async function membersOf(tx: Db, bridgeIds: readonly string[]): Promise<Relayed> {
  const { rows } = await sql<{ node_id: string }>`
    select node_id from relay_preferences join nodes on nodes.id = node_id
    where resource_id = any(${bridgeIds}::uuid[]) order by node_id limit ${MARKED_MAX + 1}`.execute(tx)
  return rows.length > MARKED_MAX ? 'all' : rows.map(({ node_id }) => node_id)
}
