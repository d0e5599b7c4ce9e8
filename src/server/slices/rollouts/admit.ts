import { problem } from '../../../shared/problems.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Db } from '../../ports/datastore.ts'
import { referenceOf } from './rollout.ts'
import { findRollout, type RolloutRecord } from './store.ts'

/** The rollout, once the gate of its row admits the caller: an unknown one, and one of strangers, are 404 alike. */
export async function admitTo(ctx: RequestContext, db: Db, id: string): Promise<RolloutRecord> {
  const rollout = await findRollout(db, id)
  if (rollout !== undefined) ctx.about(referenceOf(id), rollout.domain_id)
  await ctx.admit(rollout && { domain_id: rollout.domain_id })
  if (rollout === undefined) throw problem('rollout_not_found')
  return rollout
}
