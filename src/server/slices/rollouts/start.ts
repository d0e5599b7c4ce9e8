import { problem } from '../../../shared/problems.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { insertNodes, countNodes, findConflict } from './nodes-store.ts'
import { progressOf } from './rollout.ts'
import { bindPlan, selectNodes } from './selectors.ts'
import * as store from './store.ts'
import { divide } from './waves.ts'

/**
 * Starts a rollout that the caller has locked, after its Domain: fixes its nodes and the order of their turns.
 *
 * @throws Problem `rollout_conflict`, `invalid_rollout`
 */
export async function start({ db }: Change, rollout: store.RolloutRecord, now: Date): Promise<store.RolloutRecord> {
  const { id, domain_id: domainId, selector, waves, canaries } = rollout
  const plan = await bindPlan(db, { domainId, selector, isStored: true, waves })
  const { nodes, groupOf } = await selectNodes(db, domainId, plan)
  const turns = divide(nodes, { rolloutId: id, canaries, waves, groupOf })
  const nodeIds = turns.map((turn) => turn.id)
  const conflict = await findConflict(db, domainId, nodeIds)
  if (conflict !== undefined) throw problem('rollout_conflict', { rollout_id: conflict.rolloutId })
  await insertNodes(db, turns, { rolloutId: id, at: now })
  const progress = progressOf(rollout, await countNodes(db, id))
  return store.updateRollout(db, id, {
    status: 'running',
    wave: turns[0]?.wave ?? null,
    progress,
    started_at: now,
    updated_at: now,
  })
}
