import type { credentialAssignments } from '../../../shared/contract/credential-assignments.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byId } from '../../sql/keyset.ts'
import { credentialAnswer } from './assignment.ts'
import { readSlugs } from './cloud-store.ts'
import * as store from './credential-store.ts'
import { revoke } from './end-lent.ts'
import { CREDENTIAL_KIND } from './kinds.ts'
import { holdTarget, targetOf, type RequestTarget } from './request-target.ts'

export interface LendingDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly approvalQueue: ApprovalQueue
}

/** Serves the lending of credentials to Projects. Lists are in the order of creation. */
export function createCredentialAssignments({
  datastore,
  ids,
  approvalQueue,
}: LendingDeps): Handlers<typeof credentialAssignments> {
  const request = requestWith(ids, approvalQueue)
  return {
    async RequestCredentialAssignment(ctx, { id: projectId, body }) {
      const target = targetOf(body)
      return credentialAnswer(await ctx.change((change) => request(ctx, change, { projectId, target })))
    },

    ListCredentialAssignments: (ctx, { id: projectId }) =>
      listPage(ctx, (range) => store.listAssignments(datastore.pool('interactive'), projectId, range), {
        positionOf: byId.positionOf,
        toAnswer: credentialAnswer,
      }),

    async RevokeCredentialAssignment(ctx, { id, body: { reason } }) {
      const found = await store.findAssignment(datastore.pool('interactive'), id)
      await ctx.admit(found && { cloud_credential_id: found.cloud_credential_id, project_id: found.project_id })
      const revocation = { by: ctx.caller.subject, reason, nowMs: ctx.nowMs }
      const revoked = await ctx.change(async (change) => {
        const assignment = await store.lockAssignment(change.db, id)
        if (assignment === undefined) throw problem('credential_assignment_not_found')
        return revoke(change, assignment, revocation)
      })
      return credentialAnswer(revoked)
    },
  }
}

interface Requested {
  readonly projectId: string
  readonly target: RequestTarget
}

const requestWith =
  (ids: IdSource, queue: ApprovalQueue) =>
  async (
    ctx: RequestContext,
    change: Change,
    { projectId, target }: Requested,
  ): Promise<store.CredentialAssignment> => {
    const domainId = await holdProject(change.db, projectId)
    if (domainId === undefined) throw problem('project_not_found')
    const credential = await holdTarget(change.db, target, { projectId, nowMs: ctx.nowMs })
    const slugs = await readSlugs(change.db, { projectId, cloudId: credential.cloud_id })
    const id = ids.next()
    const approval = await queue.request(change, {
      kind: CREDENTIAL_KIND,
      object: `${CREDENTIAL_KIND}:${id}`,
      action: 'credentials.lend',
      operation: 'RequestCredentialAssignment',
      summary: `Lend the credential ${credential.display_name} of the Cloud ${slugs.cloud} to the Project ${slugs.project}.`,
      domainId,
      projectId,
      requestedBy: ctx.caller.subject,
      decide: { relation: 'assign', object: `cloudcredential:${credential.id}` },
      nowMs: ctx.nowMs,
    })
    const at = new Date(ctx.nowMs)
    const assignment = await store.insertAssignment(change.db, {
      id,
      project_id: projectId,
      cloud_credential_id: credential.id,
      state: 'requested',
      approval_id: approval.id,
      created_at: at,
      updated_at: at,
    })
    announce(change, domainId, assignment)
    return assignment
  }

function announce(change: Change, domainId: string, assignment: store.CredentialAssignment): void {
  const { id, project_id, cloud_credential_id, approval_id } = assignment
  const payload = { credential_assignment_id: id, project_id, cloud_credential_id, approval_id }
  change.emit({ event: 'CredentialAssignmentRequested', domainId, aggregate: `${CREDENTIAL_KIND}:${id}`, payload })
}
