import type { credentialAssignments } from '../../../shared/contract/credential-assignments.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { holdUsable } from './cloud-store.ts'
import * as store from './credential-store.ts'

type RequestBody = Input<(typeof credentialAssignments)['operations']['RequestCredentialAssignment']>['body']

/** What a Project requests: a credential, or the newest of a Cloud that can be lent. */
export type RequestTarget = { readonly credentialId: string } | { readonly cloudId: string }

/**
 * The target that the body names.
 * @throws Problem `ambiguous_credential_target` where it names both, `invalid_body` where it names none
 */
export function targetOf({ cloud_credential_id: credentialId, cloud_id: cloudId }: RequestBody): RequestTarget {
  if (credentialId !== undefined && cloudId !== undefined) throw problem('ambiguous_credential_target')
  if (credentialId !== undefined) return { credentialId }
  if (cloudId !== undefined) return { cloudId }
  const detail = 'one of the members cloud_credential_id and cloud_id is required'
  throw problem('invalid_body', { errors: [{ pointer: '', detail }] })
}

/** For whom a credential is requested, and when. */
export interface RequestMoment {
  readonly projectId: string
  readonly nowMs: number
}

/**
 * Finds the credential that is requested, and keeps it and the Project's right to its Cloud as they are until the
 * transaction ends. A credential that does not exist is refused as one of a Cloud that the Project may not use, so that
 * nobody learns which credentials exist.
 *
 * @throws Problem `cloud_not_usable_in_project`, `credential_not_assignable`, `no_eligible_credential_for_cloud`
 */
export async function holdTarget(
  tx: Db,
  target: RequestTarget,
  { projectId, nowMs }: RequestMoment,
): Promise<store.LendableCredential> {
  if ('credentialId' in target) {
    // The Cloud of a credential never changes, so that it can be read before it is held.
    const cloudId = (await store.findCredential(tx, target.credentialId))?.cloud_id
    await assertUsable(tx, projectId, cloudId)
    const credential = await store.holdCredential(tx, target.credentialId)
    if (credential === undefined) throw problem('cloud_not_usable_in_project')
    if (!store.isAssignable(credential, nowMs)) throw problem('credential_not_assignable')
    return credential
  }
  await assertUsable(tx, projectId, target.cloudId)
  const [newest] = await store.holdEligible(tx, target.cloudId, new Date(nowMs))
  if (newest === undefined) throw problem('no_eligible_credential_for_cloud')
  return newest
}

async function assertUsable(tx: Db, projectId: string, cloudId: string | undefined): Promise<void> {
  const isUsable = cloudId !== undefined && (await holdUsable(tx, { projectId, cloudId }))
  if (!isUsable) throw problem('cloud_not_usable_in_project')
}
