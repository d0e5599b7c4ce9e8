import type { rollouts } from '../../../shared/contract/rollouts.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { ineligibilityOf, readUpgradeTarget } from '../../releases/upgrade-target.ts'
import { admitTo } from './admit.ts'
import { cancel } from './cancel.ts'
import { isEnd, referenceOf, toAnswer } from './rollout.ts'
import { start } from './start.ts'
import * as store from './store.ts'

type Moves = Pick<
  Handlers<typeof rollouts>,
  'StartRollout' | 'PauseRollout' | 'ResumeRollout' | 'CancelRollout' | 'DeleteRollout'
>

/** Changes a rollout that is locked, as its Domain is. */
type Move<T> = (change: Change, rollout: store.RolloutRecord) => Promise<T>

/** Serves what moves a rollout from one status to another. */
export function createMoves({ datastore }: { readonly datastore: Datastore }): Moves {
  /** Makes a move of a rollout that the caller may operate, if its status allows it. */
  async function moved<T>(ctx: RequestContext, id: string, { from, move, heldFor }: Allowed<T>): Promise<T> {
    const seen = await admitTo(ctx, datastore.pool('interactive'), id)
    // Of the rollout, not of its Domain: several rollouts can wait for their approvals at the same time.
    if (heldFor !== undefined) ctx.heldAs({ action: heldFor, object: referenceOf(id), domainId: seen.domain_id })
    return ctx.change(async (change) => {
      const { db } = change
      const isThere = await store.lockDomain(db, seen.domain_id)
      const rollout = isThere ? await store.lockRollout(db, id) : undefined
      if (rollout === undefined) throw problem('rollout_not_found')
      if (!from(rollout.status)) throw illegal(rollout.status)
      return move(change, rollout)
    })
  }

  return {
    async StartRollout(ctx, { id }) {
      const started = await moved(ctx, id, {
        from: (status) => status === 'pending',
        heldFor: 'rollouts.start',
        async move(change, rollout) {
          await assertEligible(change.db, rollout.version)
          const running = await start(change, rollout, new Date(ctx.nowMs))
          const { node_count } = toAnswer(running)
          const { domain_id: domainId, slug, version } = running
          const payload = { rollout_id: id, slug, version, node_count }
          change.emit({ event: 'RolloutStarted', domainId, aggregate: referenceOf(id), payload })
          return running
        },
      })
      return toAnswer(started)
    },

    async PauseRollout(ctx, { id }) {
      const paused = await moved(ctx, id, {
        from: (status) => status === 'running',
        move: ({ db }) =>
          store.updateRollout(db, id, { status: 'paused', waiting_for: null, updated_at: new Date(ctx.nowMs) }),
      })
      return toAnswer(paused)
    },

    async ResumeRollout(ctx, { id }) {
      const resumed = await moved(ctx, id, {
        from: (status) => status === 'paused',
        async move({ db }, { version }) {
          await assertEligible(db, version)
          return store.updateRollout(db, id, { status: 'running', updated_at: new Date(ctx.nowMs) })
        },
      })
      return toAnswer(resumed)
    },

    async CancelRollout(ctx, { id }) {
      const cancelled = await moved(ctx, id, {
        from: (status) => !isEnd(status),
        async move(change, rollout) {
          const { domain_id: domainId, slug, version } = rollout
          const payload = { rollout_id: id, slug, version }
          change.emit({ event: 'RolloutCancelled', domainId, aggregate: referenceOf(id), payload })
          return cancel(change, rollout, new Date(ctx.nowMs))
        },
      })
      return toAnswer(cancelled)
    },

    async DeleteRollout(ctx, { id }) {
      await moved(ctx, id, { from: isEnd, move: ({ db }) => store.deleteRollout(db, id) })
    },
  }
}

interface Allowed<T> {
  readonly from: (status: store.Status) => boolean
  readonly move: Move<T>
  /** The action of a policy for which the move waits for approvals. */
  readonly heldFor?: 'rollouts.start'
}

/** @throws Problem `release_not_eligible` */
export async function assertEligible(db: Db, version: string): Promise<void> {
  const reason = ineligibilityOf(await readUpgradeTarget(db, version))
  if (reason !== undefined) throw problem('release_not_eligible', { reason })
}

function illegal(status: store.Status) {
  return problem('illegal_transition', { errors: [{ pointer: '/status', detail: `is ${status}` }] })
}
