import type { domains } from '../../../shared/contract/domains.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { MemberError } from '../../../shared/problems/row.ts'
import { faultOfHours, normalizeHours } from './business-hours.ts'
import { MESH_RANGE, normalizeCidr, normalizeMeshCidr, PRIVATE_NETWORKS } from './networks.ts'
import type { DomainRecord } from './store.ts'

type Operations = (typeof domains)['operations']
export type DomainAnswer = Result<Operations['GetDomain']>
export type DomainCreateBody = Input<Operations['CreateDomain']>['body']
export type DomainPatchBody = Input<Operations['PatchDomain']>['body']

/** Members that caveats read: a caller that caches them must be notified of a change (decisions: Caveats). */
const CAVEAT_SETTINGS = ['trusted_networks', 'business_hours', 'strong_acr'] as const

/** Members that are lists of networks. */
const NETWORK_SETTINGS = ['trusted_networks', 'routed_networks'] as const

/** Days for which audited decisions are kept by default (decisions: Audit). */
const AUDIT_RETENTION_DAYS = 400

/** Seconds that an observed endpoint stays fresh by default (decisions: Tenancy). */
const ENDPOINT_TTL_SECONDS = 300

/**
 * Turns a create body into the row of a new Domain, defaults filled in and networks normalised.
 * @throws Problem `invalid_body` with every invalid member.
 */
export function newDomain(id: string, body: DomainCreateBody, at: Date): DomainRecord {
  const meshCidr = normalizeMeshCidr(body.mesh_cidr ?? MESH_RANGE)
  const detail = 'must be a network inside 100.64.0.0/10 with a prefix of at most 30'
  refuseFaults([...(meshCidr === undefined ? [{ pointer: '/mesh_cidr', detail }] : []), ...faultsOf(body)])
  return {
    id,
    slug: body.slug,
    display_name: body.display_name,
    mesh_cidr: meshCidr ?? MESH_RANGE,
    endpoint_ttl_seconds: body.endpoint_ttl ?? ENDPOINT_TTL_SECONDS,
    audit_retention_days: body.audit_retention_days ?? AUDIT_RETENTION_DAYS,
    trusted_networks: networksOf(body.trusted_networks ?? []),
    business_hours: hoursOf(body.business_hours ?? null),
    ...strengthsOf(body),
    peer_visibility: body.peer_visibility ?? 'all',
    routed_networks: networksOf(body.routed_networks ?? PRIVATE_NETWORKS),
    created_at: at,
    updated_at: at,
  }
}

/** The sign-ins that a new Domain requires. */
function strengthsOf({
  strong_acr = [],
  step_up = {},
}: DomainCreateBody): Pick<DomainRecord, 'strong_acr' | 'step_up'> {
  return { strong_acr, step_up }
}

/**
 * Applies a patch to a Domain's row; members left out stay.
 * @throws Problem `invalid_body` with every invalid member.
 */
export function patchedDomain(domain: DomainRecord, patch: DomainPatchBody, at: Date): DomainRecord {
  refuseFaults(faultsOf(patch))
  return {
    ...domain,
    display_name: patch.display_name ?? domain.display_name,
    endpoint_ttl_seconds: patch.endpoint_ttl ?? domain.endpoint_ttl_seconds,
    audit_retention_days: patch.audit_retention_days ?? domain.audit_retention_days,
    trusted_networks: networksOf(patch.trusted_networks ?? domain.trusted_networks),
    business_hours: hoursOf(patch.business_hours === undefined ? domain.business_hours : patch.business_hours),
    strong_acr: patch.strong_acr ?? domain.strong_acr,
    step_up: patch.step_up ?? domain.step_up,
    peer_visibility: patch.peer_visibility ?? domain.peer_visibility,
    routed_networks: networksOf(patch.routed_networks ?? domain.routed_networks),
    updated_at: at,
  }
}

/** Checks whether a patch names a setting that caveats read. */
export function touchesCaveats(patch: DomainPatchBody): boolean {
  return CAVEAT_SETTINGS.some((setting) => patch[setting] !== undefined)
}

/** The row as the API shows it. */
export function toAnswer(domain: DomainRecord): DomainAnswer {
  return {
    id: domain.id,
    slug: domain.slug,
    display_name: domain.display_name,
    mesh_cidr: domain.mesh_cidr,
    endpoint_ttl: domain.endpoint_ttl_seconds,
    audit_retention_days: domain.audit_retention_days,
    trusted_networks: domain.trusted_networks,
    business_hours: domain.business_hours,
    strong_acr: domain.strong_acr,
    step_up: domain.step_up,
    peer_visibility: domain.peer_visibility,
    routed_networks: domain.routed_networks,
    created_at: domain.created_at.toISOString(),
    updated_at: domain.updated_at.toISOString(),
  }
}

function faultsOf(settings: DomainPatchBody): MemberError[] {
  const networks = NETWORK_SETTINGS.flatMap((setting) =>
    (settings[setting] ?? []).flatMap((text, index) =>
      normalizeCidr(text) === undefined
        ? [{ pointer: `/${setting}/${index}`, detail: 'must be an IPv4 or IPv6 network such as 10.0.0.0/8' }]
        : [],
    ),
  )
  const hours = settings.business_hours ? faultOfHours(settings.business_hours) : undefined
  return hours === undefined
    ? networks
    : [...networks, { pointer: `/business_hours${hours.pointer}`, detail: hours.detail }]
}

function refuseFaults(errors: readonly MemberError[]): void {
  if (errors.length > 0) throw problem('invalid_body', { errors })
}

function networksOf(networks: readonly string[]): string[] {
  return [...new Set(networks.flatMap((text) => normalizeCidr(text) ?? []))]
}

function hoursOf(hours: DomainRecord['business_hours']): DomainRecord['business_hours'] {
  return hours === null ? null : normalizeHours(hours)
}
