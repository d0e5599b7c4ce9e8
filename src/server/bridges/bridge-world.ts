import type { BridgeParts, PartName } from './bridge-parts.ts'

/** What the validator knows of a bridge and its surroundings. */
export interface BridgeWorld {
  /** Slugs of the Domain and the Project of the resource. */
  readonly domainSlug: string
  readonly projectSlug: string
  /** The mesh network of the Domain. */
  readonly meshCidr: string
  /** The nodes that host the resource. */
  readonly hostIds: readonly string[]
  /** Those of the ingress targets, stored and wanted, that are nodes of the Domain. */
  readonly targetIds: ReadonlySet<string>
  readonly parts: BridgeParts
}

/** Why a configuration is refused. `part` is what breaks the rule, `with` the part whose claim came first. */
export type Conflict = { readonly part: PartName } & (
  | { readonly code: 'bridge_port_conflict'; readonly port: number; readonly with: PartName }
  | { readonly code: 'interface_name_conflict'; readonly with: PartName }
  | { readonly code: 'slug_conflict'; readonly with: PartName }
  | { readonly code: 'subnet_overlap_with_mesh'; readonly subnet: string }
  | { readonly code: 'subnet_overlap_with_tunnel'; readonly subnet: string; readonly with: PartName }
  | { readonly code: 'subnet_overlap_with_user_access'; readonly subnet: string; readonly with: PartName }
  | { readonly code: 'peer_subnet_in_use' }
  | { readonly code: 'max_peers_reached'; readonly limit: number }
  | { readonly code: 'target_node_not_in_domain' }
  | { readonly code: 'secret_ref_malformed' }
  | { readonly code: 'bridge_limit_exceeded'; readonly limit: string }
)
