import { problem } from '../../../shared/problems.ts'
import type { ApprovalKind, DecidedApproval } from '../../ports/approval-kind.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import { consumerTuple, OF_PLATFORM, usesTuple } from './assignment.ts'
import * as clouds from './cloud-store.ts'
import * as credentials from './credential-store.ts'

/** The kind of approval that decides on an assignment of a credential, and the type of its object. */
export const CREDENTIAL_KIND = 'credential_assignment'

/** The kind of approval that decides on an assignment of a Cloud, and the type of its object. */
export const CLOUD_KIND = 'cloud_assignment'

interface KindsDeps {
  readonly authorizer: Authorizer
}

/** Creates what carries out the decisions on requested assignments (S1 States and transitions). */
export function createApprovalKinds(deps: KindsDeps): readonly ApprovalKind[] {
  return [ofCredentials(deps), ofClouds(deps)]
}

/** The Cloud is asked about without a lock: its assignment cannot be revoked without ending the request first. */
function ofCredentials({ authorizer }: KindsDeps): ApprovalKind {
  return {
    kind: CREDENTIAL_KIND,
    async approve(change, approval) {
      const assignment = await credentials.lockAssignment(change.db, idOf(approval))
      if (assignment?.state !== 'requested') throw problem('approval_stale')
      const projectId = assignment.project_id
      await assertMayDeploy(authorizer, projectId, approval)
      const credential = await credentials.findCredential(change.db, assignment.cloud_credential_id)
      if (credential === undefined) throw problem('approval_stale')
      if (!(await clouds.isUsable(change.db, { projectId, cloudId: credential.cloud_id })))
        throw problem('cloud_not_usable_in_project')
      if (!credentials.isAssignable(credential, approval.nowMs)) throw problem('credential_not_assignable')
      await credentials.moveAssignment(change.db, assignment.id, approvalOf(approval))
      await change.tuples.createStructural(usesTuple(assignment), OF_PLATFORM)
    },
    end: ({ db }, approval) => credentials.rejectAssignment(db, idOf(approval), new Date(approval.nowMs)),
  }
}

function ofClouds({ authorizer }: KindsDeps): ApprovalKind {
  return {
    kind: CLOUD_KIND,
    async approve(change, approval) {
      const assignment = await clouds.lockAssignment(change.db, idOf(approval))
      if (assignment?.state !== 'requested') throw problem('approval_stale')
      await assertMayDeploy(authorizer, assignment.project_id, approval)
      await clouds.moveAssignment(change.db, assignment.id, approvalOf(approval))
      await change.tuples.createStructural(consumerTuple(assignment), OF_PLATFORM)
    },
    end: ({ db }, approval) => clouds.rejectAssignment(db, idOf(approval), new Date(approval.nowMs)),
  }
}

const idOf = ({ object }: DecidedApproval): string => object.slice(object.indexOf(':') + 1)

const approvalOf = ({ nowMs }: DecidedApproval) =>
  ({ from: 'requested', set: { state: 'approved', updated_at: new Date(nowMs) }, stale: 'approval_stale' }) as const

/**
 * The requester must still hold `deploy`. A caveat on that role was met by the request; its facts, such as the address
 * of the caller, are not those of the decision.
 *
 * @throws Problem `approval_stale` where the requester holds it no longer
 */
async function assertMayDeploy(
  authorizer: Authorizer,
  projectId: string,
  { requestedBy, nowMs }: DecidedApproval,
): Promise<void> {
  const decision = await authorizer.check({
    subject: requestedBy,
    relation: 'deploy',
    resource: `project:${projectId}`,
    facts: { nowMs },
    wantPath: false,
  })
  if (!decision.allowed && decision.reason !== 'caveat_violation') throw problem('approval_stale')
}
