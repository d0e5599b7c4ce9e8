import type { Generated } from 'kysely'
import type { GeneratedJson, Json } from './json.ts'

/** Tables of Domains, Projects, and the resources and groups in them. */
export interface TenancyTables {
  domains: DomainRow
  projects: ProjectRow
  resource_hosts: ResourceHostRow
  groups: GroupRow
}

export interface DomainRow {
  id: string
  slug: string
  display_name: string
  mesh_cidr: string
  endpoint_ttl_seconds: number
  trusted_networks: Json<string[]>
  business_hours: Json<BusinessHours | null>
  strong_acr: Json<string[]>
  /** 1 to 3650. */
  audit_retention_days: Generated<number>
  /** Which other nodes a node sees: all of its Domain, or those that policies let it exchange packets with. */
  peer_visibility: Generated<'all' | 'reachable'>
  /** Networks whose parts nodes may reach through bridges, at most 64. */
  routed_networks: GeneratedJson<string[]>
  /** By operation: the sign-in that it needs. */
  step_up: GeneratedJson<StepUpPolicies>
  created_at: Date
  updated_at: Date
}

/** The sign-in that operations of a Domain need; an operation that is not named needs no more than a credential. */
export interface StepUpPolicies {
  integrity_acknowledge?: { acr_values: string[]; max_age?: number | undefined } | undefined
}

export interface BusinessHours {
  time_zone: string
  days: number[]
  from: string
  to: string
}

export interface ProjectRow {
  id: string
  domain_id: string
  slug: string
  display_name: string
  created_at: Date
  updated_at: Date
}

interface ResourceHostRow {
  resource_id: string
  node_id: string
}

export interface GroupRow {
  id: string
  domain_id: string
  slug: string
  display_name: string
  /** The group of the identity provider whose members it mirrors; null where people manage it. */
  provider_group: Generated<string | null>
  created_at: Date
}
