import { CompiledQuery } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { OwnBlocks } from './own-state.ts'
import type { Peer } from './peers.ts'

/** The revision of a node's state, and the revision that the node has received. */
export interface StateRevisions {
  readonly domainId: string
  /** That of the Domain's peers. */
  readonly peers: number
  /** The revision of the node's own part. */
  readonly node: number
  /** Both revisions at the node's last pull; null before that. */
  readonly pulled: { readonly peers: number; readonly node: number } | null
}

/** Reads only the revisions of many nodes, by their ids; nodes that do not exist are left out. */
export async function readRevisions(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, StateRevisions>> {
  const { rows } = await db.executeQuery<RevisionsRow>(CompiledQuery.raw(REVISIONS, [arrayText(nodeIds)]))
  return new Map(rows.map((row) => [row.id, toRevisions(row)]))
}

/** The node's own part, with its revisions. */
export interface ReadState {
  readonly revisions: StateRevisions
  readonly own: OwnBlocks
}

/** Reads the own parts of many nodes in one statement, as one snapshot, by their ids; nodes that do not exist are left out. */
export async function readOwn(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, ReadState>> {
  const { rows } = await db.executeQuery<OwnRow>(CompiledQuery.raw(OWN, [arrayText(nodeIds)]))
  return new Map(rows.map((row) => [row.id, { revisions: toRevisions(row), own: toBlocks(row) }]))
}

/** An array of ids in PostgreSQL's text form: they need no quotes, and the driver would look for some in each. */
function arrayText(ids: readonly string[]): string {
  return `{${ids.join(',')}}`
}

/** The changes of a Domain's peers since a revision. */
export interface PeerChanges {
  readonly revision: number
  /** `peers` has all peers and replaces the former list. */
  readonly isWhole: boolean
  /** By id. */
  readonly peers: readonly Peer[]
}

/** Reads it in one statement. Every node of the Domain is one of the others' peers. */
export async function readPeers(db: Db, domainId: string, since: number): Promise<PeerChanges> {
  const { rows } = await db.executeQuery<PeerRow>(CompiledQuery.raw(PEERS, [domainId, since]))
  const [first] = rows
  if (first === undefined) throw new Error('a query of one row at least gave none')
  return { revision: Number(first.revision), isWhole: first.is_whole, peers: rows.flatMap(toPeer) }
}

const FROM_NODE = `
  from nodes n
  join node_heartbeats h on h.node_id = n.id
  left join domain_peers p on p.domain_id = n.domain_id
  where n.id = any($1::uuid[])`

const REVISION_COLUMNS = `
  n.id, n.domain_id, coalesce(p.revision, 0) as peers, h.node_revision as node, h.pulled_peer_revision as pulled_peers,
  h.pulled_node_revision as pulled_node`

const REVISIONS = `select ${REVISION_COLUMNS} ${FROM_NODE}`

/** The whole milliseconds of an instant of the server's clock. */
const ms = (column: string): string => `extract(epoch from ${column}) * 1000`

// An expiry takes effect when the sweeper writes it. An expired row counts until then; otherwise the content of a revision
// would depend on the time of the query.
const OWN = `
  select ${REVISION_COLUMNS},
    (select json_agg(json_build_array(r.policy_id, r.id, r.fingerprint, r.rules) order by r.policy_id)
      from policy_matches as matched join policies as policy on policy.id = matched.policy_id
      join policy_revisions r on r.id = policy.applied_revision_id
      where matched.node_id = n.id) as policies,
    (select json_agg(json_build_array(c.resource_id, c.effective_config) order by c.resource_id)
      from resource_hosts as host join bridge_configs c on c.resource_id = host.resource_id
      where host.node_id = n.id) as bridges,
    (select json_agg(json_build_array(key, value) order by key)
      from node_state_reports where node_id = n.id) as reports,
    (select json_agg(json_build_array(
        id, action, type, parameters, status, ${ms('requested_at')}, ${ms('expires_at')}
      ) order by requested_at, id)
      from executions where node_id = n.id and finished_at is null) as executions,
    (select json_agg(json_build_array(
        id, kind, target, ${ms('expires_at')}, idle_timeout_seconds
      ) order by issued_at, id)
      from mediated_sessions where node_id = n.id and ended_at is null and revoked_at is null) as sessions
  ${FROM_NODE}`

// A change of the relay or of its address changes every peer: the same revision must have the same bytes for
// a caller that read all peers and for one that read only the changes.
const PEERS = `
  with head as (
    select coalesce(p.revision, 0) as revision,
      coalesce(p.whole_revision, 0) > $2::bigint or exists (
        select from nodes
        where id in (p.relay_node_id, p.second_relay_node_id) and peer_revision > $2::bigint
      ) as is_whole,
      p.relay_node_id, first.last_endpoint as first_host, first.last_endpoint_port as first_port,
      second.last_endpoint as second_host, second.last_endpoint_port as second_port
    from (values ($1::uuid)) as asked (domain_id)
    left join domain_peers p on p.domain_id = asked.domain_id
    left join node_endpoints as first
      on first.node_id = p.relay_node_id and first.last_endpoint_stale_at is null
    left join node_endpoints as second
      on second.node_id = p.second_relay_node_id and second.last_endpoint_stale_at is null
  )
  select head.revision, head.is_whole, n.id, n.mesh_address, encode(n.public_key, 'base64') as public_key,
    n.psk_issued_at, n.policy_groups as groups, e.last_endpoint as host, e.last_endpoint_port as port,
    case when n.id = head.relay_node_id then head.second_host else head.first_host end as fallback_host,
    case when n.id = head.relay_node_id then head.second_port else head.first_port end as fallback_port
  from head
  left join nodes n
    on n.domain_id = $1::uuid and n.peer_revision > case when head.is_whole then -1 else $2::bigint end
  left join node_endpoints e on e.node_id = n.id and e.last_endpoint_stale_at is null
  order by n.id`

interface RevisionsRow {
  readonly id: string
  readonly domain_id: string
  readonly peers: string
  readonly node: string
  readonly pulled_peers: string | null
  readonly pulled_node: string | null
}

function toRevisions(row: RevisionsRow): StateRevisions {
  const { pulled_peers: peers, pulled_node: node } = row
  return {
    domainId: row.domain_id,
    peers: Number(row.peers),
    node: Number(row.node),
    pulled: peers === null || node === null ? null : { peers: Number(peers), node: Number(node) },
  }
}

/** Rows of each block as arrays, in the order of the statement's columns; null where there is none. */
interface OwnRow extends RevisionsRow {
  readonly policies: readonly (readonly [string, string, string, string])[] | null
  readonly bridges: readonly (readonly [string, string])[] | null
  readonly reports: readonly (readonly [string, string])[] | null
  readonly executions: readonly (readonly [string, string, string, string | null, string, number, number])[] | null
  readonly sessions: readonly (readonly [string, string, string, number, number | null])[] | null
}

function toBlocks(row: OwnRow): OwnBlocks {
  return {
    policies: (row.policies ?? []).map(([policyId, revisionId, fingerprint, rules]) => ({
      policyId,
      revisionId,
      fingerprint,
      rules,
    })),
    bridges: (row.bridges ?? []).map(([resourceId, config]) => ({ resourceId, config })),
    reports: (row.reports ?? []).map(([key, value]) => ({ key, value })),
    executions: (row.executions ?? []).map(([id, action, type, parameters, status, requestedAtMs, expiresAtMs]) => ({
      id,
      action,
      type,
      parameters,
      status,
      requestedAtMs,
      expiresAtMs,
    })),
    sessions: (row.sessions ?? []).map(([id, kind, target, expiresAtMs, idleTimeoutSeconds]) => ({
      id,
      kind,
      target,
      expiresAtMs,
      idleTimeoutSeconds,
    })),
  }
}

/** Without a node's columns where nothing is new. */
interface PeerRow {
  readonly revision: string
  readonly is_whole: boolean
  readonly id: string | null
  readonly mesh_address: string
  readonly public_key: string
  readonly psk_issued_at: string
  readonly groups: readonly number[]
  readonly host: string | null
  readonly port: number | null
  readonly fallback_host: string | null
  readonly fallback_port: number | null
}

function toPeer(row: PeerRow): Peer[] {
  if (row.id === null) return []
  return [
    {
      nodeId: row.id,
      meshAddress: row.mesh_address,
      publicKey: row.public_key,
      pskIssuedAtNs: BigInt(row.psk_issued_at),
      groups: row.groups,
      host: row.host,
      port: row.port,
      fallbackHost: row.fallback_host,
      fallbackPort: row.fallback_port,
    },
  ]
}
