import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of Domains, Projects, and the resources and groups in them. */
export interface TenancyTables {
  domains: DomainRow
  projects: ProjectRow
  resources: ResourceRow
  resource_hosts: ResourceHostRow
  groups: GroupRow
  capacity_targets: CapacityTargetRow
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
  created_at: Date
  updated_at: Date
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

export interface ResourceRow {
  id: string
  domain_id: string
  project_id: string
  kind: 'bridge' | 'network' | 'workload' | 'vm'
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

/** How much of a dimension a Domain may have; without a row the dimension's default holds, and 0 is no bound (S1 Capacity). */
interface CapacityTargetRow {
  domain_id: string
  dimension: string
  target: string
}
