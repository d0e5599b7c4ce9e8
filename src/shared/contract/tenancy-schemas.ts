import { z } from 'zod'
import {
  CreatedAt,
  DisplayName,
  InDomain,
  InProject,
  ManagedBy,
  OwnId,
  ShownName,
  ShownSlug,
  Slug,
  UpdatedAt,
  Uuid,
  uuidField,
} from './fields.ts'

const Cidr = z
  .string()
  .min(3)
  .max(49)
  .meta({ examples: ['10.0.0.0/8'] })

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 08:30' })

/** When `within_hours` holds: weekdays 1 (Monday) to 7, from inclusive to exclusive, in the zone's own time. */
const BusinessHours = z.strictObject({
  time_zone: z.string().min(1).max(64).describe('IANA time zone'),
  days: z.array(z.int().min(1).max(7)).min(1).max(7).describe('Weekdays, 1 (Monday) to 7 (Sunday)'),
  from: TimeOfDay.describe('Time of day at which the hours begin, HH:MM'),
  to: TimeOfDay.describe('Time of day at which the hours end, HH:MM'),
})

const EndpointTtl = z.int().min(30).max(3600).describe('Seconds that an observed endpoint stays fresh; 30 to 3600')

const AuditRetention = z.int().min(1).max(3650).describe('Days for which audited decisions are kept; 1 to 3650')

const settings = {
  endpoint_ttl: EndpointTtl,
  audit_retention_days: AuditRetention,
  trusted_networks: z.array(Cidr).max(64).describe('Networks that the from_network caveat accepts'),
  business_hours: BusinessHours.nullable().describe('Hours that the within_hours caveat accepts'),
  strong_acr: z.array(z.string().min(1).max(256)).max(16).describe('acr values that the strong_auth caveat accepts'),
  step_up: z
    .strictObject({
      integrity_acknowledge: z
        .strictObject({
          acr_values: z
            .array(
              z.string().regex(/^[!#-[\]-~]{1,256}$/, {
                error: 'must be printable ASCII without blanks, quotes and backslashes',
              }),
            )
            .min(1)
            .max(16)
            .describe('The sign-in must have one of these'),
          max_age: z.int().min(60).max(86_400).optional().describe('Seconds; an older sign-in must be repeated'),
        })
        .optional()
        .describe('For acknowledging violations of integrity'),
    })
    .describe(
      'The stronger sign-in that operations need of the people of this Domain; none where an operation is absent',
    ),
  peer_visibility: z
    .enum(['all', 'reachable'])
    .describe('Which other nodes a node sees: all of the Domain, or those that policies let it exchange packets with'),
  routed_networks: z
    .array(Cidr)
    .max(64)
    .describe(
      'Networks whose parts nodes may reach through bridges; subnets of bridges outside of them are not routed',
    ),
}

export const Domain = z
  .object({
    id: OwnId,
    slug: ShownSlug,
    display_name: ShownName,
    mesh_cidr: z.string().describe('Part of 100.64.0.0/10 that node addresses come from'),
    ...settings,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Domain', description: 'A tenant with its settings.' })

/** The Domain's name, so that the counts of several form a table. */
export const DomainUsage = z
  .object({
    id: OwnId,
    slug: ShownSlug,
    nodes: z.int().describe('Number of enrolled nodes'),
    projects: z.int().describe('Number of Projects'),
    api_tokens: z.int().describe('Tokens that are neither revoked nor expired, without hidden ones'),
  })
  .meta({ id: 'DomainUsage', description: 'How many objects a Domain holds.' })

export const DomainCreateRequest = z
  .strictObject({
    slug: Slug,
    display_name: DisplayName,
    mesh_cidr: Cidr.optional().describe('Part of 100.64.0.0/10 that node addresses come from; all of it by default'),
    endpoint_ttl: EndpointTtl.optional(),
    audit_retention_days: AuditRetention.optional(),
    trusted_networks: settings.trusted_networks.optional(),
    business_hours: settings.business_hours.optional(),
    strong_acr: settings.strong_acr.optional(),
    peer_visibility: settings.peer_visibility.optional(),
    routed_networks: settings.routed_networks
      .optional()
      .describe(
        'Networks whose parts nodes may reach through bridges; the private ones (RFC 1918, RFC 4193) by default',
      ),
    step_up: settings.step_up.optional(),
  })
  .meta({ id: 'DomainCreateRequest', description: 'A new Domain.' })

export const DomainPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    endpoint_ttl: EndpointTtl.optional(),
    audit_retention_days: AuditRetention.optional(),
    trusted_networks: settings.trusted_networks.optional(),
    business_hours: settings.business_hours.optional(),
    strong_acr: settings.strong_acr.optional(),
    peer_visibility: settings.peer_visibility.optional(),
    routed_networks: settings.routed_networks.optional(),
    step_up: settings.step_up.optional(),
  })
  .meta({ id: 'DomainPatchRequest', description: 'Settings of a Domain to change.' })

export const Project = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    slug: ShownSlug,
    display_name: ShownName,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Project', description: 'A part of a Domain with its own resources and roles.' })

export const ProjectCreateRequest = z
  .strictObject({ slug: Slug, display_name: DisplayName, managed_by: ManagedBy })
  .meta({ id: 'ProjectCreateRequest', description: 'A new Project.' })

export const ProjectPatchRequest = z
  .strictObject({ display_name: DisplayName.optional() })
  .meta({ id: 'ProjectPatchRequest', description: 'Members of a Project to change.' })

const ResourceKind = z.enum(['bridge', 'network', 'workload', 'vm'])

export const Resource = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    project_id: InProject,
    kind: ResourceKind.describe('What the resource is'),
    slug: ShownSlug,
    display_name: ShownName,
    host_node_ids: z.array(Uuid).describe('Nodes that host the resource'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Resource', description: 'An object of a Project, such as a bridge or a workload.' })

const HostNodes = z
  .array(uuidField('invalid_body', 'Node'))
  .max(64)
  .describe('Nodes of the Domain that host the resource')

export const ResourceCreateRequest = z
  .strictObject({
    kind: ResourceKind.describe('What the resource is; never changes'),
    slug: Slug,
    display_name: DisplayName,
    host_node_ids: HostNodes.optional(),
    managed_by: ManagedBy,
  })
  .meta({ id: 'ResourceCreateRequest', description: 'A new resource.' })

export const ResourcePatchRequest = z
  .strictObject({ display_name: DisplayName.optional(), host_node_ids: HostNodes.optional() })
  .meta({ id: 'ResourcePatchRequest', description: 'Members of a resource to change.' })
