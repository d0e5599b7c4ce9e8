import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** The dimension's name in refusals and targets (S1 Capacity). */
export const DIMENSION = 'action_executions'

/** Default limit of open executions of a Domain (S1 Capacity). */
export const DEFAULT_TARGET = 1_000

/**
 * Whether the Domain has as many open executions as its target allows; never with a target of 0. The Domain's row is
 * locked until the transaction ends, so that the next caller counts this execution. It is locked before any node's row.
 */
export async function isFull(tx: Db, domainId: string): Promise<boolean> {
  const target = await lockTarget(tx, domainId)
  if (target === 0) return false
  const { rows } = await sql<{ under_way: number }>`
    select count(*)::int as under_way from (
      select from executions where domain_id = ${domainId} and finished_at is null limit ${target}
    ) as counted`.execute(tx)
  return (rows[0]?.under_way ?? 0) >= target
}

async function lockTarget(tx: Db, domainId: string): Promise<number> {
  const { rows } = await sql<{ target: string | null }>`
    select (select target from capacity_targets where domain_id = domains.id and dimension = ${DIMENSION}) as target
    from domains where id = ${domainId} for no key update`.execute(tx)
  return Number(rows[0]?.target ?? DEFAULT_TARGET)
}
