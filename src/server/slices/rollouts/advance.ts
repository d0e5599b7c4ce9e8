import type { ServiceRelation } from '../../../shared/contract/audit-relations.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { lockRoom } from '../../executions/capacity-store.ts'
import { replaceHeldDefinitions } from '../../policies/definitions-store.ts'
import { readUpgradeTarget, type UpgradeTarget } from '../../releases/upgrade-target.ts'
import { isOpen } from './maintenance-window.ts'
import { nextStep } from './next-step.ts'
import { countNodes } from './nodes-store.ts'
import { countIn, progressOf, referenceOf, SYSTEM } from './rollout.ts'
import * as store from './store.ts'
import { takeTurns } from './take-turns.ts'
import { watchUpgrades } from './watch-store.ts'

/** Upgrades that begin in one transaction, at most: heartbeats of their nodes wait for its end. */
const BEGUN_MAX = 200

/** A rollout that is to be taken further. */
export interface Advancing {
  readonly id: string
  readonly domainId: string
  readonly ids: IdSource
  readonly now: Date
}

/**
 * Takes a rollout a bounded step further, in the transaction of the change. Nodes and their executions change together with it, so
 * that no crash and no other leader upgrades a node twice. Gives whether there is more to do at once.
 */
export async function advance(change: Change, { id, domainId, ids, now }: Advancing): Promise<boolean> {
  const { db } = change
  // Locks the Domain: before the rollout and before nodes.
  const { leftToRollouts: room } = await lockRoom(db, domainId)
  const former = await store.lockRollout(db, id)
  if (former === undefined) return false
  const moved = await watchUpgrades(db, former, now)
  const rollout = moved === 0 ? former : await recount(change, former)
  if (rollout.status !== 'running') {
    if (moved > 0) await save(change, rollout, now)
    return false
  }
  const target = await readUpgradeTarget(db, rollout.version)
  const next = await step(change, rollout, { room, target, now, ids })
  if (isChanged(former, next.rollout)) await save(change, next.rollout, now)
  return next.isMore
}

/** The rollout with its nodes counted again. */
async function recount(change: Change, rollout: store.RolloutRecord): Promise<store.RolloutRecord> {
  const progress = progressOf(rollout, await countNodes(change.db, rollout.id))
  return { ...rollout, progress, in_flight: countIn(progress, 'upgrading', 'soaking') }
}

interface Ground extends Pick<Advancing, 'ids' | 'now'> {
  readonly room: number
  readonly target: UpgradeTarget | undefined
}

interface Stepped {
  readonly rollout: store.RolloutRecord
  readonly isMore: boolean
}

async function step(change: Change, rollout: store.RolloutRecord, ground: Ground): Promise<Stepped> {
  const { target, now } = ground
  const next = nextStep(rollout, target)
  if (next.does === 'halt') {
    await announceEnd(change, rollout, { relation: 'rollout.halt', reason: next.reason })
    return { rollout: ended(rollout, { status: 'halted', halted_reason: next.reason, now }), isMore: false }
  }
  if (next.does === 'complete' || target === undefined) {
    await announceEnd(change, rollout, { relation: 'rollout.complete' })
    return { rollout: ended(rollout, { status: 'completed', halted_reason: null, now }), isMore: false }
  }
  return upgrade(change, { ...rollout, wave: next.wave }, { ...ground, target })
}

/** Begins upgrades of the wave as far as the plan and the Domain have room for them. */
async function upgrade(
  change: Change,
  rollout: store.RolloutRecord & { readonly wave: number },
  { room, target, now, ids }: Ground & { readonly target: UpgradeTarget },
): Promise<Stepped> {
  const { wave, maintenance_window: window } = rollout
  const free = rollout.max_in_flight - rollout.in_flight
  const isWaiting = rollout.progress.some((each) => each.wave === wave && each.counts.pending > 0)
  const idle = { rollout: { ...rollout, waiting_for: null }, isMore: false }
  if (!isWaiting) return idle
  if (window !== null && !isOpen(window, now.getTime()))
    return { rollout: { ...rollout, waiting_for: 'window' }, isMore: false }
  if (free <= 0) return idle
  if (room <= 0) return { rollout: { ...rollout, waiting_for: 'capacity' }, isMore: false }
  const upgradesMax = Math.min(free, room, BEGUN_MAX)
  const { taken, isMore } = await takeTurns(change, { rollout, target, wave, upgradesMax, now }, ids)
  const counted = taken === 0 ? rollout : await recount(change, rollout)
  const isRoomLeft = counted.in_flight - rollout.in_flight < Math.min(free, room)
  return { rollout: { ...counted, waiting_for: null }, isMore: isMore || (taken >= BEGUN_MAX && isRoomLeft) }
}

interface End extends Pick<store.RolloutRecord, 'halted_reason'> {
  readonly status: 'halted' | 'completed'
  readonly now: Date
}

function ended(rollout: store.RolloutRecord, { now, ...end }: End): store.RolloutRecord {
  return { ...rollout, ...end, wave: null, waiting_for: null, finished_at: now }
}

async function announceEnd(
  change: Change,
  { id, domain_id: domainId, slug, version }: store.RolloutRecord,
  { relation, reason }: { readonly relation: ServiceRelation; readonly reason?: string },
): Promise<void> {
  const aggregate = referenceOf(id)
  await replaceHeldDefinitions(change.db, aggregate, [])
  const payload = { rollout_id: id, slug, version }
  if (reason === undefined) change.emit({ event: 'RolloutCompleted', domainId, aggregate, payload })
  else change.emit({ event: 'RolloutHalted', domainId, aggregate, payload: { ...payload, reason } })
  const outcome = { outcome: 'granted', reason: 'granted' } as const
  const context = reason === undefined ? {} : { halted_reason: reason }
  change.audit({ domainId, subject: SYSTEM, relation, object: aggregate, ...outcome, context })
}

function isChanged(one: store.RolloutRecord, other: store.RolloutRecord): boolean {
  const members = ['status', 'wave', 'progress', 'waiting_for'] as const
  return members.some((member) => one[member] !== other[member])
}

async function save(change: Change, rollout: store.RolloutRecord, now: Date): Promise<void> {
  const { id, status, wave, progress, in_flight, halted_reason, waiting_for, finished_at } = rollout
  const advanced = { status, wave, progress, in_flight, halted_reason, waiting_for, finished_at, updated_at: now }
  await store.updateRollout(change.db, id, advanced)
}
