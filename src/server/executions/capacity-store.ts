import { sql } from 'kysely'
import { DIMENSION_FACTS } from '../../shared/capacity/dimensions.ts'
import type { Db } from '../ports/datastore.ts'

/** The dimension's name in refusals and targets (S1 Capacity). */
export const DIMENSION = 'action_executions'

/**
 * How many executions more the Domain may have under way; without a bound, and so Infinity, with a target of 0. The Domain's row
 * is locked until the transaction ends, so that the next caller counts what this one adds. It is locked before any node's row.
 */
export async function lockRoom(tx: Db, domainId: string): Promise<number> {
  const target = await lockTarget(tx, domainId)
  if (target === 0) return Infinity
  const { rows } = await sql<{ under_way: number }>`
    select count(*)::int as under_way from (
      select from executions where domain_id = ${domainId} and finished_at is null limit ${target}
    ) as counted`.execute(tx)
  return target - (rows[0]?.under_way ?? 0)
}

async function lockTarget(tx: Db, domainId: string): Promise<number> {
  const { rows } = await sql<{ target: string | null }>`
    select (select target from capacity_targets where domain_id = domains.id and dimension = ${DIMENSION}) as target
    from domains where id = ${domainId} for no key update`.execute(tx)
  return Number(rows[0]?.target ?? DIMENSION_FACTS[DIMENSION].defaultTarget)
}
