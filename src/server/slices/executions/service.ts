import type { executions } from '../../../shared/contract/executions.ts'
import { problem } from '../../../shared/problems.ts'
import { announceCancelled } from '../../executions/announce.ts'
import { DIMENSION, lockRoom, roomAgainAt } from '../../executions/capacity-store.ts'
import { newExecution, type ExecutionRecord } from '../../executions/new-execution.ts'
import { requestExecutions } from '../../executions/request-executions.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdNode } from '../../sql/hold-node.ts'
import { holdPrincipal } from '../../sql/hold-principal.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { domainOfNode } from '../../sql/node-domain.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { isKnownAction, knownActions, typeOf, type Asked, type WantedAction } from './actions.ts'
import { assertEligible } from './eligible-upgrade.ts'
import { toAnswer } from './execution.ts'
import * as store from './store.ts'
import { afterReport, isEnd, nextOf } from './transitions.ts'

export interface ExecutionsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  /** Undefined where no release can be verified: an agent may then be upgraded to any version. */
  readonly releaseVerifier: ReleaseVerifier | undefined
}

/** When to retry where a Domain is at its target, at the latest: nodes end most executions long before these run out of time. */
const RETRY_SECONDS_MAX = 60
/** How long after its time an execution is ended at the latest, in s. */
const SWEPT_WITHIN_SECONDS = 5

/** Serves executions: requests to nodes, and the nodes' reports about them. */
export function createExecutions({ datastore, ids, releaseVerifier }: ExecutionsDeps): Handlers<typeof executions> {
  return {
    async CreateExecution(ctx, { id: nodeId, body }) {
      const execution = await ctx.change(async (change) => {
        const { db } = change
        if (!(await holdPrincipal(db, ctx.caller.id))) throw problem('unauthorized')
        const domainId = await domainOfNode(db, nodeId)
        if (domainId === undefined) throw problem('node_not_found')
        ctx.about(`node:${nodeId}`, domainId)
        const type = await knownType(db, nodeId, body)
        if (releaseVerifier !== undefined) await assertEligible(db, nodeId, { ...body, type })
        if ((await lockRoom(db, domainId)).left <= 0) throw await full(db, domainId, ctx.nowMs)
        if ((await holdNode(db, nodeId)) === undefined) throw problem('node_not_found')
        const at = new Date(ctx.nowMs)
        const request = { id: ids.next(), nodeId, domainId, requestedBy: ctx.caller.subject, at }
        const requested = newExecution(request, { ...body, type })
        await requestExecutions(change, [requested])
        return requested
      })
      ctx.header('Location', `/v1/nodes/${nodeId}/executions/${execution.id}`)
      return toAnswer(execution)
    },

    async ListExecutions(ctx, { id: nodeId, status }) {
      const db = datastore.pool('interactive')
      const domainId = await domainOfNode(db, nodeId)
      if (domainId === undefined) throw problem('node_not_found')
      ctx.about(`node:${nodeId}`, domainId)
      return listPage(ctx, (range) => store.readExecutions(db, { nodeId, status }, range), {
        positionOf: byIdDescending.positionOf,
        toAnswer,
      })
    },

    async GetExecution(ctx, { id: nodeId, execution_id: id }) {
      const execution = await store.findExecution(datastore.pool('interactive'), { id, nodeId })
      if (execution === undefined) throw problem('execution_not_found')
      ctx.about(`node:${nodeId}`, execution.domain_id)
      return toAnswer(execution)
    },

    async CancelExecution(ctx, { id: nodeId, execution_id: id }) {
      const cancelled = await ctx.change(async (change) => {
        const execution = await lockOf(change, { id, nodeId })
        ctx.about(`node:${nodeId}`, execution.domain_id)
        if (isEnd(execution.status)) throw illegal(execution.status)
        const end = { status: 'cancelled', finished_at: new Date(ctx.nowMs) } as const
        const ended = await store.updateProgress(change.db, id, end)
        await ownStateChanged(change.db, [nodeId])
        announceCancelled(change, ended)
        return ended
      })
      return toAnswer(cancelled)
    },

    async PostExecutionCallback(ctx, { id: nodeId, execution_id: id, body }) {
      await ctx.change(async (change) => {
        const execution = await lockOf(change, { id, nodeId })
        const progress = afterReport(execution, body, new Date(ctx.nowMs))
        if (progress === 'illegal') throw illegal(execution.status)
        if (progress === 'repeated') return
        await store.updateProgress(change.db, id, progress)
        await ownStateChanged(change.db, [nodeId], 'node')
      })
    },
  }
}

/** @throws Problem `execution_not_found`, also where its node has just been deregistered. */
async function lockOf({ db }: Change, execution: store.ExecutionRef): Promise<ExecutionRecord> {
  const isThere = (await holdNode(db, execution.nodeId)) !== undefined
  const locked = isThere ? await store.lockExecution(db, execution) : undefined
  if (locked === undefined) throw problem('execution_not_found')
  return locked
}

/** The type of the requested action. @throws Problem `unknown_action`. */
async function knownType(db: Db, nodeId: string, asked: WantedAction): Promise<Asked['type']> {
  const hooks = await store.declaredHooks(db, nodeId)
  const type = asked.type ?? typeOf(asked.action, hooks)
  if (type !== undefined && isKnownAction({ action: asked.action, type }, hooks)) return type
  throw problem('unknown_action', { errors: [{ pointer: '/action', detail: knownActions(asked, hooks) }] })
}

function illegal(status: store.Status) {
  return problem('illegal_transition', { errors: [{ pointer: '/status', detail: nextOf(status) }] })
}

/** The refusal, with the time until enough executions have run out of theirs. */
async function full(tx: Db, domainId: string, nowMs: number) {
  const again = await roomAgainAt(tx, domainId)
  const seconds = Math.ceil(((again?.getTime() ?? nowMs) - nowMs) / 1000) + SWEPT_WITHIN_SECONDS
  const retryAfter = Math.min(RETRY_SECONDS_MAX, Math.max(SWEPT_WITHIN_SECONDS, seconds))
  return problem('capacity_exceeded', { dimension: DIMENSION, retry_after_seconds: retryAfter })
}
