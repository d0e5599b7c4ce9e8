import type { cloudAssignments } from '../../../shared/contract/cloud-assignments.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Revocation } from '../../ports/lent-credentials.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byId } from '../../sql/keyset.ts'
import { cloudAnswer, consumerTuple } from './assignment.ts'
import * as store from './cloud-store.ts'
import type { LendingDeps } from './credential-assignments.ts'
import { countLive } from './credential-store.ts'
import { endLent, revokedColumns } from './end-lent.ts'
import { CLOUD_KIND } from './kinds.ts'
import { configOf } from './provider-config.ts'
import { readProviderConfig } from './provider-config-store.ts'

/** Serves the lending of Clouds to Projects. Lists are in the order of creation. */
export function createCloudAssignments({
  datastore,
  ids,
  approvalQueue,
}: LendingDeps): Handlers<typeof cloudAssignments> {
  const request = requestWith(ids, approvalQueue)
  return {
    async RequestCloudAssignment(ctx, { id: projectId, body: { cloud_id: cloudId } }) {
      return cloudAnswer(await ctx.change((change) => request(ctx, change, { projectId, cloudId })))
    },

    ListCloudAssignments: (ctx, { id: projectId }) =>
      listPage(ctx, (range) => store.listAssignments(datastore.pool('interactive'), projectId, range), {
        positionOf: byId.positionOf,
        toAnswer: cloudAnswer,
      }),

    async RevokeCloudAssignment(ctx, { id, body: { reason, cascade } }) {
      const found = await store.findAssignment(datastore.pool('interactive'), id)
      await ctx.admit(found && { cloud_id: found.cloud_id, project_id: found.project_id })
      const revocation = { by: ctx.caller.subject, reason, nowMs: ctx.nowMs }
      const revoked = await ctx.change(async (change) => {
        const assignment = await lockApproved(change, id)
        const pair = { projectId: assignment.project_id, cloudId: assignment.cloud_id }
        if (cascade === true) await endLent(change, approvalQueue, { of: pair, revocation })
        else await assertNothingLent(change, pair)
        return revoke(change, assignment, revocation)
      })
      return cloudAnswer(revoked)
    },

    async GetProviderConfig(ctx, { id: projectId, cloud_id: cloudId }) {
      const pair = { projectId, cloudId }
      const stored = await readProviderConfig(datastore.pool('interactive'), pair, new Date(ctx.nowMs))
      if (stored === undefined) throw problem('provider_config_not_found')
      return configOf(stored)
    },
  }
}

const requestWith =
  (ids: IdSource, queue: ApprovalQueue) =>
  async (ctx: RequestContext, change: Change, pair: store.Pair): Promise<store.CloudAssignment> => {
    const { projectId, cloudId } = pair
    const domainId = await holdProject(change.db, projectId)
    if (domainId === undefined) throw problem('project_not_found')
    if (!(await store.holdCloud(change.db, cloudId))) throw problem('cloud_not_found')
    const slugs = await store.readSlugs(change.db, pair)
    const id = ids.next()
    const approval = await queue.request(change, {
      kind: CLOUD_KIND,
      object: `${CLOUD_KIND}:${id}`,
      action: 'clouds.lend',
      operation: 'RequestCloudAssignment',
      summary: `Lend the Cloud ${slugs.cloud} to the Project ${slugs.project}.`,
      domainId,
      projectId,
      requestedBy: ctx.caller.subject,
      decide: { relation: 'assign', object: `cloud:${cloudId}` },
      nowMs: ctx.nowMs,
    })
    const at = new Date(ctx.nowMs)
    const row = { id, project_id: projectId, cloud_id: cloudId, state: 'requested', approval_id: approval.id } as const
    const assignment = await store.insertAssignment(change.db, { ...row, created_at: at, updated_at: at })
    const payload = { cloud_assignment_id: id, project_id: projectId, cloud_id: cloudId, approval_id: approval.id }
    change.emit({ event: 'CloudAssignmentRequested', domainId, aggregate: `${CLOUD_KIND}:${id}`, payload })
    return assignment
  }

async function lockApproved(change: Change, id: string): Promise<store.PlacedAssignment> {
  const assignment = await store.lockAssignment(change.db, id)
  if (assignment === undefined) throw problem('cloud_assignment_not_found')
  if (assignment.state !== 'approved') throw problem('illegal_transition')
  return assignment
}

async function assertNothingLent({ db }: Change, pair: store.Pair): Promise<void> {
  const count = await countLive(db, pair)
  if (count > 0) throw problem('cloud_assignment_in_use', { counts: { credential_assignments: count } })
}

async function revoke(
  change: Change,
  { id, domain_id: domainId }: store.PlacedAssignment,
  revocation: Revocation,
): Promise<store.CloudAssignment> {
  const move = { from: 'approved', set: revokedColumns(revocation), stale: 'illegal_transition' } as const
  const revoked = await store.moveAssignment(change.db, id, move)
  await change.tuples.removeStructural(consumerTuple(revoked))
  const payload = { cloud_assignment_id: id, project_id: revoked.project_id, cloud_id: revoked.cloud_id }
  change.emit({ event: 'CloudAssignmentRevoked', domainId, aggregate: `${CLOUD_KIND}:${id}`, payload })
  return revoked
}
