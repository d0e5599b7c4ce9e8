import { CompiledQuery } from 'kysely'
import {
  WORLD_HEAD,
  WORLD_POLICY_IDS,
  WORLD_PREFERENCE,
  WORLD_RULES,
  worldChangesOf,
  type WorldHeadRow,
  type WorldNodeRow,
} from '../../policies/world-columns.ts'
import type { WorldChanges } from '../../policies/world.ts'
import type { Db } from '../../ports/datastore.ts'
import { createFallbacks, hopsOf, type FallbackOf } from '../../sql/relay-hops.ts'
import type { Peer } from './peers.ts'

/** The changes of a Domain's peers since a revision. */
export interface PeerChanges {
  readonly revision: number
  /** `peers` has all peers and replaces the former list. */
  readonly isWhole: boolean
  /** By id. */
  readonly peers: readonly Peer[]
  /** The same of what decides who sees whom; undefined where all nodes see all others. */
  readonly world: WorldChanges | undefined
}

/** Reads it in one statement. Every node of the Domain is a peer of others. */
export async function readPeers(db: Db, domainId: string, since: number): Promise<PeerChanges> {
  const { rows } = await db.executeQuery<PeerRow | HeadRow>(CompiledQuery.raw(PEERS, [domainId, since]))
  const [head] = rows
  if (head === undefined || head.id !== null) throw new Error('the first row is not that of the Domain')
  const nodes = rows.filter((row) => row.id !== null)
  const fallbackOf = createFallbacks(hopsOf(head.hops))
  return {
    revision: Number(head.revision),
    isWhole: head.is_whole,
    peers: nodes.map((row) => toPeer(row, fallbackOf)),
    world: worldChangesOf(head, nodes),
  }
}

// A change of a relay or of its address is a change of every peer whose edges it carries: the same revision must have the
// same bytes for a caller that read all peers and for one that read only the changes.
const PEERS = `
  with head as (
    select ${WORLD_HEAD}
    from (values ($1::uuid)) as asked (domain_id)
    left join domains d on d.id = asked.domain_id
    left join domain_peers p on p.domain_id = asked.domain_id
  )
  select revision, is_whole, is_filtered, hops,
    case when is_filtered and is_whole then ${WORLD_RULES} end as rules,
    null::uuid as id, null::text as name, null::inet as mesh_address, null as public_key, null::bigint as psk_issued_at,
    null::integer[] as groups, null::text[] as policy_ids, null::uuid as bridge_id, null as host, null::integer as port,
    null::text[] as candidates, null::text[] as subnets
  from head
  union all
  select null, null, null, null, null, n.id, n.name, n.mesh_address, encode(n.public_key, 'base64'), n.psk_issued_at,
    n.policy_groups, case when head.is_filtered then ${WORLD_POLICY_IDS} end, preferred.resource_id, e.last_endpoint,
    e.last_endpoint_port, coalesce(e.candidates, '{}'), n.hosted_subnets
  from head
  join nodes n
    on n.domain_id = $1::uuid and n.peer_revision > case when head.is_whole then -1 else $2::bigint end
  ${WORLD_PREFERENCE}
  left join node_endpoints e on e.node_id = n.id and e.last_endpoint_stale_at is null
  order by id nulls first`

interface HeadRow extends WorldHeadRow {
  readonly id: null
}

interface PeerRow extends WorldNodeRow {
  readonly name: string
  readonly public_key: string
  readonly psk_issued_at: string
  readonly host: string | null
  readonly port: number | null
  readonly candidates: readonly string[]
  readonly subnets: readonly string[]
}

function toPeer(row: PeerRow, fallbackOf: FallbackOf): Peer {
  return {
    nodeId: row.id,
    name: row.name,
    meshAddress: row.mesh_address,
    publicKey: row.public_key,
    pskIssuedAtNs: BigInt(row.psk_issued_at),
    groups: row.groups,
    host: row.host,
    port: row.port,
    candidates: row.candidates,
    subnets: row.subnets,
    fallback: fallbackOf(row.id, row.bridge_id),
  }
}
