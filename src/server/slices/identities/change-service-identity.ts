import type { identities } from '../../../shared/contract/identities.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { OwnedTokens } from '../../ports/owned-tokens.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { areLastPlatformAdmins } from '../../sql/platform-admins.ts'
import { referenceOf } from './identity.ts'
import { requirePublicKeys } from './jwks.ts'
import * as store from './store.ts'

type Patch = Input<(typeof identities)['operations']['UpdateServiceIdentity']>['body']

/** The service identity and the time of the change. */
interface Place {
  readonly domainId: string
  readonly id: string
  readonly at: Date
}

/**
 * Changes a service identity. Replicas reload its cached tokens, so that a disabled identity is refused at once.
 * @throws Problem `identity_not_found`, `invalid_service_identity`, `service_identity_already_exists`,
 * `last_platform_admin` where nobody else could administer the platform.
 */
export async function patchServiceIdentity(
  change: Change,
  { patch, ...place }: Place & { readonly patch: Patch },
  tokens: OwnedTokens,
): Promise<store.PrincipalRecord> {
  if (patch.jwks) requirePublicKeys(patch.jwks)
  const identity = await locked(change, place)
  if (patch.disabled === true && identity.disabled_at === null) await keepAnAdmin(change, identity)
  const patched = await store.updateServiceIdentity(change.db, identity.id, valuesOf(identity, patch, place.at))
  await tokens.ownerChanged(change, identity.id)
  announce(change, 'ServiceIdentityUpdated', patched)
  return patched
}

/**
 * Deletes a service identity with its tokens, and with every tuple that names it: roles, memberships and its edge to the
 * Domain. Resolves with the number of tokens.
 * @throws Problem `identity_not_found`, `last_platform_admin`; `service_identity_in_use` with `counts` where nodes still run
 * what it requested: nobody would be accountable for it.
 */
export async function deleteServiceIdentity(change: Change, place: Place, tokens: OwnedTokens): Promise<number> {
  const identity = await locked(change, place)
  await keepAnAdmin(change, identity)
  const reference = referenceOf(identity)
  const counts = await store.countUnderWay(change.db, { domainId: place.domainId, reference, now: place.at })
  if (Object.values(counts).some((count) => count > 0)) throw problem('service_identity_in_use', { counts })
  const count = await tokens.deleteAllOf(change, identity.id)
  await change.tuples.deleteObject(reference)
  await store.deletePrincipal(change.db, identity.id)
  announce(change, 'ServiceIdentityDeleted', identity)
  return count
}

async function locked({ db }: Change, { domainId, id }: Place): Promise<store.PrincipalRecord> {
  const identity = await store.lockServiceIdentity(db, domainId, id)
  if (identity === undefined) throw problem('identity_not_found')
  return identity
}

async function keepAnAdmin({ db }: Change, { id }: store.PrincipalRecord): Promise<void> {
  if (await areLastPlatformAdmins(db, (admin) => admin.id === id)) throw problem('last_platform_admin')
}

/** The patch as columns. */
function valuesOf(identity: store.PrincipalRecord, patch: Patch, at: Date): store.ServiceIdentityValues {
  const { display_name, jwks, spiffe_id, disabled } = patch
  return {
    ...(display_name !== undefined && { display_name }),
    ...(jwks !== undefined && { jwks }),
    ...(spiffe_id !== undefined && { spiffe_id }),
    ...(disabled !== undefined && { disabled_at: disabled ? (identity.disabled_at ?? at) : null }),
    updated_at: at,
  }
}

function announce(
  change: Change,
  event: 'ServiceIdentityUpdated' | 'ServiceIdentityDeleted',
  identity: store.PrincipalRecord,
): void {
  const { id, domain_id: domainId, display_name, disabled_at } = identity
  const payload = { service_identity_id: id, display_name, disabled: disabled_at !== null }
  change.emit({ event, domainId, aggregate: referenceOf(identity), payload })
}
