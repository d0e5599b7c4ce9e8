import type { identities } from '../../../shared/contract/identities.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { IdentifyingColumns, PrincipalRecord, PrincipalSummary, PrincipalWithLogin } from './store.ts'

type Operations = (typeof identities)['operations']
type Summary = Result<Operations['CreateServiceIdentity']>
type Detail = Result<Operations['GetIdentity']>

/** The principal as the authorization model names it. */
export function referenceOf({ id, kind }: Pick<PrincipalRecord, 'id' | 'kind'>): string {
  return `${kind === 'user' ? 'user' : 'serviceaccount'}:${id}`
}

/** The row as lists show it. */
export function toSummary(principal: PrincipalSummary): Summary {
  return {
    id: principal.id,
    kind: principal.kind,
    domain_id: principal.domain_id,
    display_name: principal.display_name,
    external_subject_pseudonym: principal.subject_pseudonym,
    last_sign_in_at: principal.last_sign_in_at?.toISOString() ?? null,
    created_at: principal.created_at.toISOString(),
    disabled: principal.disabled_at !== null,
  }
}

/** The handle of the principal: the name that it was created under. A user of an external provider may have neither login nor address. */
export function handleOf(
  principal: Pick<PrincipalRecord, 'kind'> & Pick<IdentifyingColumns, 'login' | 'email'>,
  externalSubject: string,
): { readonly handle?: string } {
  const handle = principal.kind === 'service-identity' ? externalSubject : (principal.login ?? principal.email)
  return handle === null ? {} : { handle }
}

/** The row as its own page shows it: without what only auditors may read. */
export function toDetail(principal: PrincipalRecord): Detail {
  return { ...toSummary(principal), updated_at: principal.updated_at.toISOString() }
}

/** The row as auditors see it. Service identities never carry an address. */
export function toRevealedDetail(principal: PrincipalWithLogin, externalSubject: string): Detail {
  const detail = {
    ...toDetail(principal),
    ...handleOf(principal, externalSubject),
    external_subject: externalSubject,
  }
  return principal.kind === 'user' && principal.email !== null ? { ...detail, email: principal.email } : detail
}
