import { problem } from '../../../shared/problems.ts'
import type { Keyring, SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { referenceOf } from './identity.ts'
import { requirePublicKeys, type SentJwks } from './jwks.ts'
import { parentEdgeOf } from './parent-edge.ts'
import { pseudonymOf } from './pseudonym.ts'
import { insertServiceIdentity, type PrincipalRecord } from './store.ts'

/** The properties of a new service identity. */
export interface ServiceIdentityDraft {
  readonly id: string
  readonly domainId: string
  readonly displayName: string
  /** Name of the workload, unique in the Domain. */
  readonly subject: string
  readonly jwks?: SentJwks | undefined
  readonly spiffeId?: string | undefined
  readonly createdAt: Date
}

export interface PrincipalKeys {
  readonly keyring: Keyring
  readonly sealing: Sealing
}

/** Where the external subject of a principal is sealed. */
export function sealedSubjectOf(principalId: string): SealedPlace {
  return { table: 'principals', column: 'subject_sealed', rowId: principalId }
}

/**
 * Makes the row of a service identity: its subject sealed, and known by its pseudonym.
 * @throws Problem `invalid_service_identity` when a key is not public.
 */
export async function newServiceIdentity(
  draft: ServiceIdentityDraft,
  { keyring, sealing }: PrincipalKeys,
): Promise<PrincipalRecord> {
  if (draft.jwks !== undefined) requirePublicKeys(draft.jwks)
  return {
    id: draft.id,
    domain_id: draft.domainId,
    kind: 'service-identity',
    display_name: draft.displayName,
    subject_sealed: await sealing.seal(sealedSubjectOf(draft.id), Buffer.from(draft.subject, 'utf8')),
    subject_pseudonym: pseudonymOf(keyring, draft.domainId, draft.subject),
    email: null,
    jwks: draft.jwks ?? null,
    spiffe_id: draft.spiffeId ?? null,
    last_sign_in_at: null,
    binding_id: null,
    disabled_at: null,
    created_at: draft.createdAt,
    updated_at: draft.createdAt,
  }
}

/**
 * Adds a service identity with the edge to its Domain. It is the only place that creates one, also at the first run.
 * @throws Problem `domain_not_found`, `service_identity_already_exists`
 */
export async function addServiceIdentity(change: Change, identity: PrincipalRecord): Promise<void> {
  const { id, domain_id: domainId } = identity
  if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
  await insertServiceIdentity(change.db, identity)
  const reference = referenceOf(identity)
  const { tuple, place } = parentEdgeOf(reference, domainId)
  await change.tuples.createStructural(tuple, place)
  const payload = { service_identity_id: id, display_name: identity.display_name }
  change.emit({ event: 'ServiceIdentityProvisioned', domainId, aggregate: reference, payload })
}
