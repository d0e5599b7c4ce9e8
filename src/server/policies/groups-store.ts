import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** A peer selector with its number. */
export interface Group {
  readonly number: number
  /** Canonical text. */
  readonly selector: string
}

/** Reads the groups of a Domain. */
export function readGroups(db: Db, domainId: string): Promise<Group[]> {
  return db
    .selectFrom('policy_groups')
    .select(['number', 'selector'])
    .where('domain_id', '=', domainId)
    .orderBy('number')
    .execute()
}

/**
 * Gives numbers to selectors that are no groups of the Domain yet. A number is never given twice. The caller holds the
 * Domain's policies.
 */
export async function addGroups(tx: Db, domainId: string, selectors: readonly string[]): Promise<Group[]> {
  if (selectors.length === 0) return []
  const { rows } = await sql<Group>`
    with numbered as (
      update domain_peers set last_group = last_group + ${selectors.length}::integer where domain_id = ${domainId}
      returning last_group - ${selectors.length}::integer as base
    )
    insert into policy_groups (domain_id, number, selector)
    select ${domainId}, numbered.base + added.place, added.selector
    from numbered, unnest(${selectors}::text[]) with ordinality as added (selector, place)
    returning number, selector`.execute(tx)
  return rows
}

/** Records the groups that the revision in force of a policy names, instead of those of the one before. */
export async function replaceUses(
  tx: Db,
  { id, domainId }: { readonly id: string; readonly domainId: string },
  numbers: readonly number[],
): Promise<void> {
  await sql`
    delete from policy_group_uses where policy_id = ${id} and number <> all(${numbers}::integer[])`.execute(tx)
  await sql`
    insert into policy_group_uses (policy_id, domain_id, number)
    select ${id}, ${domainId}, number from unnest(${numbers}::integer[]) as number on conflict do nothing`.execute(tx)
}

/** Deletes the groups of a Domain that no policy names any more. */
export async function deleteUnused(tx: Db, domainId: string): Promise<Group[]> {
  const { rows } = await sql<Group>`
    delete from policy_groups as unused
    where domain_id = ${domainId} and not exists (
      select from policy_group_uses as used
      where used.domain_id = unused.domain_id and used.number = unused.number
    )
    returning number, selector`.execute(tx)
  return rows
}
