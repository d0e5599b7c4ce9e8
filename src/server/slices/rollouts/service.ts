import type { Input } from '../../../shared/contract/operation-types.ts'
import type { rollouts } from '../../../shared/contract/rollouts.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { replaceHeldDefinitions } from '../../policies/definitions-store.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { byIdDescending, byPlace } from '../../sql/keyset.ts'
import { admitTo } from './admit.ts'
import { assertEligible, createMoves } from './moves.ts'
import { listNodes } from './nodes-store.ts'
import { assertUsable } from './plan.ts'
import { progressOf, referenceOf, toAnswer, toNode } from './rollout.ts'
import { bindPlan } from './selectors.ts'
import * as store from './store.ts'

export interface RolloutsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/** Serves rollouts: upgrades of many nodes to a release, in waves (decisions: Rollouts). */
export function createRollouts({ datastore, ids }: RolloutsDeps): Handlers<typeof rollouts> {
  const db = () => datastore.pool('interactive')

  return {
    async CreateRollout(ctx, { id: domainId, body }) {
      assertUsable(body)
      const id = ids.next()
      const rollout = await ctx.change(async (change) => {
        if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
        ctx.about(referenceOf(id), domainId)
        const created = newRollout(body, { id, domainId, createdBy: ctx.caller.subject, at: new Date(ctx.nowMs) })
        return store.findRollout(change.db, await add(change, created))
      })
      if (rollout === undefined) throw new Error('a rollout that was created cannot be read')
      ctx.header('Location', `/v1/rollouts/${id}`)
      return toAnswer(rollout)
    },

    ListRollouts: (ctx, { id: domainId, status }) =>
      listPage(ctx, (range) => store.listRollouts(db(), { domainId, status }, range), {
        positionOf: byIdDescending.positionOf,
        toAnswer,
      }),

    async GetRollout(ctx, { id }) {
      return toAnswer(await admitTo(ctx, db(), id))
    },

    async ListRolloutNodes(ctx, { id, state }) {
      await admitTo(ctx, db(), id)
      return listPage(ctx, (range) => listNodes(db(), { rolloutId: id, state }, range), {
        positionOf: byPlace.positionOf,
        toAnswer: toNode,
      })
    },

    ...createMoves({ datastore }),
  }
}

/** Adds a rollout with its selector in canonical form. @throws Problem `invalid_selector`, `release_not_eligible`, `slug_conflict` */
async function add(change: Change, created: store.NewRollout): Promise<string> {
  const { db } = change
  const { id, domain_id: domainId, slug, version, waves } = created
  const plan = await bindPlan(db, { domainId, selector: created.selector, isStored: false, waves })
  await assertEligible(db, version)
  await store.insertRollout(db, { ...created, selector: plan.selector })
  const aggregate = referenceOf(id)
  await replaceHeldDefinitions(db, aggregate, plan.definitionIds)
  change.emit({ event: 'RolloutCreated', domainId, aggregate, payload: { rollout_id: id, slug, version } })
  return id
}

type Body = Input<(typeof rollouts)['operations']['CreateRollout']>['body']

interface Creation {
  readonly id: string
  readonly domainId: string
  readonly createdBy: string
  readonly at: Date
}

function newRollout({ window, ...plan }: Body, { id, domainId, createdBy, at }: Creation): store.NewRollout {
  return {
    id,
    domain_id: domainId,
    ...plan,
    maintenance_window: window && { ...window, days: [...new Set(window.days)].toSorted((a, b) => a - b) },
    status: 'pending',
    wave: null,
    progress: progressOf(plan, []),
    in_flight: 0,
    halted_reason: null,
    waiting_for: null,
    created_by: createdBy,
    created_at: at,
    started_at: null,
    finished_at: null,
    updated_at: at,
  }
}
