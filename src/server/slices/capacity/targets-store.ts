import { sql } from 'kysely'
import type { CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import type { Db } from '../../ports/datastore.ts'

/** A target to set; null restores the default. */
export interface NewTarget {
  readonly dimension: CapacityDimension
  readonly target: number | null
}

/** The targets that a Domain has of its own, by dimension. */
export type OwnTargets = ReadonlyMap<string, number>

/** Sets targets of a Domain, whose row is held. Returns all that it had of its own before, and has then. */
export async function setTargets(
  tx: Db,
  domainId: string,
  targets: readonly NewTarget[],
): Promise<{ readonly before: OwnTargets; readonly after: OwnTargets }> {
  const before = await readOwn(tx, domainId)
  const restored = targets.filter(({ target }) => target === null).map(({ dimension }) => dimension)
  const own = targets.filter(({ target }) => target !== null)
  await tx
    .deleteFrom('capacity_targets')
    .where('domain_id', '=', domainId)
    .where('dimension', '=', sql<string>`any(${restored}::text[])`)
    .execute()
  await sql`
    insert into capacity_targets (domain_id, dimension, target)
    select ${domainId}, asked.dimension, asked.target
    from unnest(${own.map(({ dimension }) => dimension)}::text[], ${own.map(({ target }) => target)}::bigint[])
      as asked (dimension, target)
    order by asked.dimension
    on conflict (domain_id, dimension) do update set target = excluded.target`.execute(tx)
  return { before, after: await readOwn(tx, domainId) }
}

async function readOwn(tx: Db, domainId: string): Promise<OwnTargets> {
  const rows = await tx
    .selectFrom('capacity_targets')
    .select(['dimension', 'target'])
    .where('domain_id', '=', domainId)
    .execute()
  return new Map(rows.map(({ dimension, target }) => [dimension, Number(target)]))
}

export async function domainExists(db: Db, domainId: string): Promise<boolean> {
  const found = await db.selectFrom('domains').select('id').where('id', '=', domainId).executeTakeFirst()
  return found !== undefined
}
