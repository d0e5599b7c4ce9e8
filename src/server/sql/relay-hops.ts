import { CompiledQuery } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { RelayPair, Relays } from './edge-mode.ts'
import { formatEndpoint } from './endpoint-text.ts'

/** A node that carries edges, and where it is reached. */
export interface RelayHop {
  /** The bridge whose nodes prefer it; null: those of the Domain as a whole. */
  readonly bridgeId: string | null
  readonly nodeId: string
  /** Null while no endpoint of it is known that is fresh. */
  readonly host: string | null
  /** The port of the relay by which it was chosen. */
  readonly port: number | null
}

/** A hop as `RELAY_HOPS` gives it: bridge, node, host, port. */
export type HopRow = readonly [string | null, string, string | null, number | null]

/**
 * An expression: the hops of the Domain `$1` as a JSON array, of each bridge the first before the second; null where there
 * are none. `p` is its row of `domain_peers`, which may be absent.
 */
export const RELAY_HOPS = `(
  select json_agg(json_build_array(hop.resource_id, hop.node_id, e.last_endpoint, hop.port) order by hop.resource_id, hop.place)
  from (
    select null::uuid as resource_id, 1 as place, p.relay_node_id as node_id, p.relay_port as port
    union all select null, 2, p.second_relay_node_id, p.second_relay_port
    union all select resource_id, 1, relay_node_id, listen_port from relay_choices where domain_id = $1::uuid
    union all select resource_id, 2, second_relay_node_id, listen_port from relay_choices where domain_id = $1::uuid
  ) as hop
  left join node_endpoints e on e.node_id = hop.node_id and e.last_endpoint_stale_at is null
  where hop.node_id is not null
)`

export function hopsOf(rows: readonly HopRow[] | null): readonly RelayHop[] {
  return (rows ?? []).map(([bridgeId, nodeId, host, port]) => ({ bridgeId, nodeId, host, port }))
}

/** Who carries edges, without where they are reached. */
export function relaysOf(hops: readonly RelayHop[]): Relays {
  const preferred = new Map<string, RelayPair>()
  for (const { bridgeId } of hops) if (bridgeId !== null) preferred.set(bridgeId, pairOf(hops, bridgeId))
  return { ...pairOf(hops, null), preferred }
}

function pairOf(hops: readonly RelayHop[], bridgeId: string | null): RelayPair {
  const [first, second] = hops.filter((hop) => hop.bridgeId === bridgeId)
  return { relay_node_id: first?.nodeId ?? null, second_relay_node_id: second?.nodeId ?? null }
}

/** Finds where the relay is reached that carries the edges to a node: `host:port`, empty where there is none. */
export type FallbackOf = (nodeId: string, bridgeId: string | null) => string

/** The hop is that of `relayTo`. */
export function createFallbacks(hops: readonly RelayHop[]): FallbackOf {
  const chains = new Map<string | null, readonly RelayHop[]>()
  function chainOf(bridgeId: string | null): readonly RelayHop[] {
    const known = chains.get(bridgeId)
    if (known !== undefined) return known
    const ofDomain = hops.filter((hop) => hop.bridgeId === null)
    const chain = bridgeId === null ? ofDomain : [...hops.filter((hop) => hop.bridgeId === bridgeId), ...ofDomain]
    chains.set(bridgeId, chain)
    return chain
  }
  return (nodeId, bridgeId) => {
    const hop = chainOf(bridgeId).find((each) => each.nodeId !== nodeId)
    return formatEndpoint(hop?.host ?? null, hop?.port ?? null)
  }
}

/** Reads the hops of a Domain. */
export async function readHops(db: Db, domainId: string): Promise<readonly RelayHop[]> {
  const { rows } = await db.executeQuery<{ hops: readonly HopRow[] | null }>(CompiledQuery.raw(HOPS, [domainId]))
  return hopsOf(rows[0]?.hops ?? null)
}

const HOPS = `
  select ${RELAY_HOPS} as hops
  from (values ($1::uuid)) as asked (domain_id) left join domain_peers p on p.domain_id = asked.domain_id`

/** The bridges that those of the nodes prefer that prefer one, by node id. */
export async function readPreferences(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (nodeIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('relay_preferences')
    .select(['node_id', 'resource_id'])
    .where('node_id', 'in', nodeIds)
    .execute()
  return new Map(rows.map(({ node_id, resource_id }) => [node_id, resource_id]))
}
