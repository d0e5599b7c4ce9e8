import { z } from 'zod'
import { DisplayName, Instant, Slug, Uuid, uuidField } from './fields.ts'

const Cidr = z
  .string()
  .min(3)
  .max(49)
  .meta({ examples: ['10.0.0.0/8'] })

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 08:30' })

/** When `within_hours` holds: weekdays 1 (Monday) to 7, from inclusive to exclusive, in the zone's own time. */
const BusinessHours = z.strictObject({
  time_zone: z.string().min(1).max(64).describe('IANA time zone'),
  days: z.array(z.int().min(1).max(7)).min(1).max(7),
  from: TimeOfDay,
  to: TimeOfDay,
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
}

export const Domain = z
  .object({
    id: Uuid,
    slug: z.string(),
    display_name: z.string(),
    mesh_cidr: z.string(),
    ...settings,
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Domain' })

/** The Domain's name, so that the counts of several form a table. */
export const DomainUsage = z
  .object({
    id: Uuid,
    slug: z.string(),
    nodes: z.int(),
    projects: z.int(),
    api_tokens: z.int().describe('Tokens that are neither revoked nor expired, without hidden ones'),
  })
  .meta({ id: 'DomainUsage' })

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
    step_up: settings.step_up.optional(),
  })
  .meta({ id: 'DomainCreateRequest' })

export const DomainPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    endpoint_ttl: EndpointTtl.optional(),
    audit_retention_days: AuditRetention.optional(),
    trusted_networks: settings.trusted_networks.optional(),
    business_hours: settings.business_hours.optional(),
    strong_acr: settings.strong_acr.optional(),
    peer_visibility: settings.peer_visibility.optional(),
    step_up: settings.step_up.optional(),
  })
  .meta({ id: 'DomainPatchRequest' })

export const Project = z
  .object({
    id: Uuid,
    domain_id: Uuid,
    slug: z.string(),
    display_name: z.string(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Project' })

export const ProjectCreateRequest = z
  .strictObject({ slug: Slug, display_name: DisplayName })
  .meta({ id: 'ProjectCreateRequest' })

export const ProjectPatchRequest = z
  .strictObject({ display_name: DisplayName.optional() })
  .meta({ id: 'ProjectPatchRequest' })

const ResourceKind = z.enum(['bridge', 'network', 'workload', 'vm'])

export const Resource = z
  .object({
    id: Uuid,
    domain_id: Uuid,
    project_id: Uuid,
    kind: ResourceKind,
    slug: z.string(),
    display_name: z.string(),
    host_node_ids: z.array(Uuid),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Resource' })

const HostNodes = z
  .array(uuidField('invalid_body', 'Node'))
  .max(64)
  .describe('Nodes of the Domain that host the resource')

export const ResourceCreateRequest = z
  .strictObject({ kind: ResourceKind, slug: Slug, display_name: DisplayName, host_node_ids: HostNodes.optional() })
  .meta({ id: 'ResourceCreateRequest' })

export const ResourcePatchRequest = z
  .strictObject({ display_name: DisplayName.optional(), host_node_ids: HostNodes.optional() })
  .meta({ id: 'ResourcePatchRequest' })
