import type { Change } from '../../ports/unit-of-work.ts'
import { withdrawPending } from '../../executions/withdraw-pending.ts'
import { replaceHeldDefinitions } from '../../policies/definitions-store.ts'
import { countNodes, readUpgrades, skipWithdrawn } from './nodes-store.ts'
import { countIn, progressOf, referenceOf } from './rollout.ts'
import * as store from './store.ts'

const WITHDRAWN = 'The rollout was cancelled before the agent began.'

/** Cancels a rollout that the caller has locked. Upgrades that an agent has taken up go on, and are watched to their end. */
export async function cancel(change: Change, rollout: store.RolloutRecord, now: Date): Promise<store.RolloutRecord> {
  const { db } = change
  const { id, domain_id: domainId } = rollout
  const executionIds = await withdrawPending(change, { domainId, executionIds: await readUpgrades(db, id), at: now })
  await skipWithdrawn(db, id, { executionIds, reason: WITHDRAWN, at: now })
  await replaceHeldDefinitions(db, referenceOf(id), [])
  const progress = progressOf(rollout, await countNodes(db, id))
  return store.updateRollout(db, id, {
    status: 'cancelled',
    wave: null,
    waiting_for: null,
    progress,
    in_flight: countIn(progress, 'upgrading', 'soaking'),
    finished_at: now,
    updated_at: now,
  })
}
