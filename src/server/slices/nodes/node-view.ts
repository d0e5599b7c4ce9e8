import type { nodes } from '../../../shared/contract/nodes.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { PlacedNode, StoredNode } from './node-store.ts'
import type { Observed } from './observed-store.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import { reachabilityAt, type ReachabilityAt } from '../../sql/reachability.ts'
import type { SecretKey } from './secret-key-store.ts'

type Operations = (typeof nodes)['operations']
type Detail = Result<Operations['GetNode']>
type Summary = Result<Operations['ListNodes']>['items'][number]

/** Computes a stored node's reachability at `nowMs`. */
export function reachabilityOf(node: StoredNode, nowMs: number): ReachabilityAt {
  const times = {
    createdAtMs: node.created_at.getTime(),
    acceptedAtMs: node.accepted_at?.getTime(),
    healthySinceMs: node.healthy_since?.getTime(),
  }
  return reachabilityAt(times, nowMs)
}

/** A node as lists show it: `name` and `kind` are empty (S0 NodeSummary), the display members carry them. */
export function summaryOf(node: StoredNode, nowMs: number): Summary {
  return {
    id: node.id,
    name: '',
    domain_id: node.domain_id,
    kind: '',
    created_at: node.created_at.toISOString(),
    display_name: node.name,
    display_kind: node.kind,
    reachability: reachabilityOf(node, nowMs).state,
    last_heartbeat_at: node.accepted_at?.toISOString() ?? null,
    binary_version: node.binary_version,
    mesh_address: node.mesh_address,
    endpoint: formatEndpoint(node.endpoint, node.endpoint_port) || null,
    labels: node.labels,
    psk_issued_at: formatPskIssuedAt(BigInt(node.psk_issued_at)),
    rotation_pending: node.rotation_pending,
    ephemeral: node.ephemeral,
  }
}

/** Members that only a single node's answer has. */
export interface NodePage {
  /** The valid keys. */
  readonly keys: readonly SecretKey[]
  readonly observed: Observed
}

/** A node as `GET /v1/nodes/{id}` shows it. */
export function detailOf(node: PlacedNode, { keys, observed }: NodePage, nowMs: number): Detail {
  return {
    ...summaryOf(node, nowMs),
    // S0 empties them in lists alone.
    name: node.name,
    kind: node.kind,
    project_id: node.project_id,
    mesh_cidr: node.mesh_cidr,
    public_key: node.public_key.toString('base64'),
    nat_type: observed.nat_type,
    endpoint_reported_at: observed.reported_at?.toISOString() ?? null,
    capabilities: observed.capabilities && {
      ...observed.capabilities,
      binary_checksum: observed.capabilities.binary_checksum.toString('hex'),
      hooks: observed.capabilities.hooks.map(({ name, checksum }) => ({ name, checksum })),
      updated_at: observed.capabilities.updated_at.toISOString(),
    },
    nsk: keys.map((key) => ({
      kid: key.kid,
      created_at: key.created_at.toISOString(),
      retires_at: key.retires_at?.toISOString() ?? null,
    })),
    updated_at: node.updated_at.toISOString(),
  }
}
