import { CompiledQuery } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { OwnBlocks } from './own-state.ts'

/** The revision of a node's state, and the revision that the node has received. */
export interface StateRevisions {
  readonly domainId: string
  /** That of the Domain's peers. */
  readonly peers: number
  /** Whether the node sees only some of them. */
  readonly isFiltered: boolean
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

const FROM_NODE = `
  from nodes n
  join node_heartbeats h on h.node_id = n.id
  join domains d on d.id = n.domain_id
  left join domain_peers p on p.domain_id = n.domain_id
  where n.id = any($1::uuid[])`

const REVISION_COLUMNS = `
  n.id, n.domain_id, coalesce(p.revision, 0) as peers, d.peer_visibility = 'reachable' as is_filtered, h.node_revision as node, h.pulled_peer_revision as pulled_peers,
  h.pulled_node_revision as pulled_node`

const REVISIONS = `select ${REVISION_COLUMNS} ${FROM_NODE}`

/** The whole milliseconds of an instant of the server's clock. */
const ms = (column: string): string => `extract(epoch from ${column}) * 1000`

// An expiry takes effect when the sweeper writes it. An expired row counts until then; otherwise the content of a revision
// would depend on the time of the query.
const OWN = `
  select ${REVISION_COLUMNS}, n.name, n.mesh_address, d.mesh_cidr, n.psk_issued_at,
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

interface RevisionsRow {
  readonly id: string
  readonly domain_id: string
  readonly peers: string
  readonly is_filtered: boolean
  readonly node: string
  readonly pulled_peers: string | null
  readonly pulled_node: string | null
}

function toRevisions(row: RevisionsRow): StateRevisions {
  const { pulled_peers: peers, pulled_node: node } = row
  return {
    domainId: row.domain_id,
    peers: Number(row.peers),
    isFiltered: row.is_filtered,
    node: Number(row.node),
    pulled: peers === null || node === null ? null : { peers: Number(peers), node: Number(node) },
  }
}

/** What the node is, and rows of each block as arrays, in the order of the statement's columns; null where there is none. */
interface OwnRow extends RevisionsRow {
  readonly name: string
  readonly mesh_address: string
  readonly mesh_cidr: string
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
  readonly policies: readonly (readonly [string, string, string, string])[] | null
  readonly bridges: readonly (readonly [string, string])[] | null
  readonly reports: readonly (readonly [string, string])[] | null
  readonly executions: readonly (readonly [string, string, string, string | null, string, number, number])[] | null
  readonly sessions: readonly (readonly [string, string, string, number, number | null])[] | null
}

function toBlocks(row: OwnRow): OwnBlocks {
  return {
    self: toSelf(row),
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

function toSelf({ name, mesh_address, mesh_cidr, psk_issued_at }: OwnRow): OwnBlocks['self'] {
  return { name, meshAddress: mesh_address, meshCidr: mesh_cidr, pskIssuedAtNs: BigInt(psk_issued_at) }
}
