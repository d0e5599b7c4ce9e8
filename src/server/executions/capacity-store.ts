import { sql } from 'kysely'
import { DIMENSION_FACTS } from '../../shared/capacity/dimensions.ts'
import type { Db } from '../ports/datastore.ts'

/** The dimension's name in refusals and targets (S1 Capacity). */
export const DIMENSION = 'action_executions'

/** Tenths of the target that rollouts fill: the rest is left to what people ask for. */
const ROLLOUT_TENTHS = 8

/** The executions that a Domain has under way, compared with its target. */
export interface Room {
  /** How many more may begin. Infinity without a target. */
  readonly left: number
  /** How many more a rollout may begin. */
  readonly leftToRollouts: number
}

/**
 * The room that the Domain has for executions. The Domain's row is locked until the transaction ends, so that the next caller
 * counts what this one adds. It is locked before any node's row.
 */
export async function lockRoom(tx: Db, domainId: string): Promise<Room> {
  const target = await lockTarget(tx, domainId)
  if (target === 0) return { left: Infinity, leftToRollouts: Infinity }
  const { rows } = await sql<{ under_way: number }>`
    select count(*)::int as under_way from (
      select from executions where domain_id = ${domainId} and finished_at is null limit ${target}
    ) as counted`.execute(tx)
  const underWay = rows[0]?.under_way ?? 0
  return { left: target - underWay, leftToRollouts: rolloutTarget(target) - underWay }
}

/** At least one: a rollout has to come to an end even where the target is 1. */
function rolloutTarget(target: number): number {
  return Math.max(1, Math.floor((target * ROLLOUT_TENTHS) / 10))
}

/**
 * When a Domain at its target has room again at the latest: so many of its executions have run out of time by then. Undefined
 * where it has room now.
 */
export async function roomAgainAt(tx: Db, domainId: string): Promise<Date | undefined> {
  const target = await lockTarget(tx, domainId)
  const { rows } = await sql<{ expires_at: Date }>`
    select expires_at from executions where domain_id = ${domainId} and finished_at is null
    order by expires_at desc limit 1 offset ${Math.max(0, target - 1)}`.execute(tx)
  return rows[0]?.expires_at
}

async function lockTarget(tx: Db, domainId: string): Promise<number> {
  const { rows } = await sql<{ target: string | null }>`
    select (select target from capacity_targets where domain_id = domains.id and dimension = ${DIMENSION}) as target
    from domains where id = ${domainId} for no key update`.execute(tx)
  return Number(rows[0]?.target ?? DIMENSION_FACTS[DIMENSION].defaultTarget)
}
