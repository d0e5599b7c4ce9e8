import type { idpBindings } from '../../../shared/contract/idp-bindings.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { SealedPlace } from '../../ports/keyring.ts'
import type { BindingRecord } from './store.ts'

type Operations = (typeof idpBindings)['operations']
type BindingAnswer = Result<Operations['PatchAdminIdPByID']>
type OfferAnswer = Result<Operations['GetAuthIdPBindings']>[number]
export type CreateBody = Input<Operations['PostAdminIdP']>['body']
export type PatchBody = Input<Operations['PatchAdminIdPByID']>['body']

const ALGORITHMS = ['RS256', 'ES256']
const CLAIMS = { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null }

/** The object whose `manage` a binding requires. */
export function placeOf({ domain_id: domainId }: Pick<BindingRecord, 'domain_id'>): string {
  return domainId === null ? PLATFORM : `domain:${domainId}`
}

/** Where a sealed client secret is stored. */
export function secretPlace(id: string): SealedPlace {
  return { table: 'idp_bindings', column: 'client_secret_sealed', rowId: id }
}

/** The place of a new binding. */
export interface Birth {
  readonly id: string
  readonly domainId: string | null
  readonly at: Date
}

/** The binding that a request describes; its secret is sealed apart. */
export function newBinding({ id, domainId, at }: Birth, body: CreateBody): BindingRecord {
  const blank: BindingRecord = {
    id,
    domain_id: domainId,
    alias: body.alias,
    label: body.label,
    issuer: body.issuer,
    client_id: body.client_id,
    client_secret_sealed: null,
    api_audience: null,
    algorithms: ALGORITHMS,
    claims: CLAIMS,
    required_acr: [],
    required_amr: [],
    is_primary: false,
    is_active: true,
    auto_provision: null,
    allow_private_network: false,
    is_bundled: false,
    signs_in: true,
    created_at: at,
    updated_at: at,
  }
  return patchedBinding(blank, body, at)
}

/** The binding as a request changes it. A member that is absent stays, also one of `claims`. */
export function patchedBinding(binding: BindingRecord, body: PatchBody, at: Date): BindingRecord {
  const {
    primary,
    active,
    sign_in: signsIn,
    claims,
    algorithms,
    auto_provision: provision,
    client_secret: _,
    ...plain
  } = body
  return {
    ...binding,
    ...given(plain),
    claims: { ...binding.claims, ...given(claims ?? {}) },
    algorithms: [...new Set(algorithms ?? binding.algorithms)],
    auto_provision: provision === undefined ? binding.auto_provision : provision && lowerCased(provision),
    is_primary: primary ?? binding.is_primary,
    is_active: active ?? binding.is_active,
    signs_in: signsIn ?? binding.signs_in,
    updated_at: at,
  }
}

/** The members that have a value: an absent one must not replace what is there. */
function given<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  // Only members that are undefined are left out.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }
}

type Provision = NonNullable<BindingRecord['auto_provision']>

/** Names of hosts are compared without regard to case; names of groups are the provider's own. */
function lowerCased({ email_domains: domains, groups }: Provision): Provision {
  return { email_domains: domains.map((domain) => domain.toLowerCase()), groups }
}

/** The binding as its managers see it. The secret shows only as a reference. */
export function toAnswer(binding: BindingRecord): BindingAnswer {
  const {
    client_secret_sealed: sealed,
    is_primary,
    is_active,
    is_bundled: _,
    signs_in,
    created_at,
    updated_at,
    ...plain
  } = binding
  return {
    ...plain,
    client_secret_ref: sealed === null ? null : `sealed:${binding.id}`,
    primary: is_primary,
    active: is_active,
    sign_in: signs_in,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

/** The binding as anybody may see it (S0 DomainIdPBinding). */
export function toOffer(binding: BindingRecord): OfferAnswer {
  return {
    id: binding.id,
    alias: binding.alias,
    label: binding.label,
    issuer_host: new URL(binding.issuer).host,
    primary: binding.is_primary,
    platform_scoped: binding.domain_id === null,
  }
}

/** The binding as signing in needs it. */
export function toPort(binding: BindingRecord): IdpBinding {
  const { auto_provision: provision } = binding
  return {
    id: binding.id,
    domainId: binding.domain_id,
    alias: binding.alias,
    label: binding.label,
    issuer: binding.issuer,
    clientId: binding.client_id,
    isConfidential: binding.client_secret_sealed !== null,
    apiAudience: binding.api_audience,
    algorithms: binding.algorithms,
    claims: binding.claims,
    requiredAcr: binding.required_acr,
    requiredAmr: binding.required_amr,
    isPrimary: binding.is_primary,
    autoProvision: provision && { emailDomains: provision.email_domains, groups: provision.groups },
    allowPrivateNetwork: binding.allow_private_network,
    isBundled: binding.is_bundled,
    signsIn: binding.signs_in,
  }
}
