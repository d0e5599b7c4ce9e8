import { sql, type RawBuilder } from 'kysely'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { ADDRESS_REST_MS, meshAddress, meshBlock } from './mesh-address.ts'

/** The Domain that an address is for. */
export interface MeshDomain {
  readonly id: string
  readonly meshCidr: string
}

/** The result of an allocation from a Domain's pool: the number after those that were taken, and whether lower ones may be free. */
export interface TakenNumbers {
  readonly domain_id: string
  readonly next_number: number
  readonly has_rested: boolean
}

/**
 * The part of a statement that locks the pools of the Domains whose `domain_id` the source gives, in ascending order, and
 * takes the next numbers of each, as many as the sum of its `uses`, as if no address had rested: that is nearly always so.
 * Whether one has is read before the wait for the lock, so the answer may be outdated: the last holder of the lock may
 * have taken it.
 */
export function takeNumbers(source: RawBuilder<unknown>, nowMs: number): RawBuilder<TakenNumbers> {
  return sql`
    insert into mesh_pools (domain_id, next_number)
    select domain_id, 1 + sum(uses) from ${source} group by domain_id order by domain_id
    on conflict (domain_id) do update set next_number = mesh_pools.next_number + excluded.next_number - 1
    returning domain_id, next_number,
      exists (select from mesh_addresses_rested as rested where rested.domain_id = mesh_pools.domain_id)
        or exists (
          select from mesh_addresses_resting as resting
          where resting.domain_id = mesh_pools.domain_id and resting.freed_at <= ${restedBefore(nowMs)}
        ) as has_rested`
}

/**
 * Returns the lowest mesh addresses that no node of the Domain has and that are not resting, ascending. The caller has taken
 * as many numbers.
 *
 * An address of a Domain is in one of four states: a node has it; it rests; it has rested; or no node ever had it, which
 * are all those from the pool's `next_number` on. The lowest free one is therefore the lowest rested one, else
 * `next_number`: two index reads, however large the Domain. The lock on the pool's row serializes allocations of one
 * Domain until the transaction ends.
 *
 * @throws Problem `mesh_addresses_exhausted`.
 */
export async function addressesFor(
  tx: Db,
  { domain, taken, count }: { readonly domain: MeshDomain; readonly taken: TakenNumbers; readonly count: number },
  nowMs: number,
): Promise<string[]> {
  const rested = taken.has_rested ? await takeRested(tx, domain.id, { before: restedBefore(nowMs), max: count }) : []
  const nextNumber = taken.next_number - rested.length
  if (rested.length > 0)
    await tx.updateTable('mesh_pools').set({ next_number: nextNumber }).where('domain_id', '=', domain.id).execute()
  const block = meshBlock(domain.meshCidr)
  const fresh = count - rested.length
  if (fresh > 0 && nextNumber - 1 > block.last) throw problem('mesh_addresses_exhausted')
  return [...rested, ...Array.from({ length: fresh }, (_, index) => meshAddress(block, nextNumber - fresh + index))]
}

/** Puts an address to rest that its node no longer has. */
export async function restAddress(tx: Db, domainId: string, freed: { address: string; atMs: number }): Promise<void> {
  await tx
    .insertInto('mesh_addresses_resting')
    .values({ domain_id: domainId, mesh_address: freed.address, freed_at: new Date(freed.atMs) })
    .execute()
}

function restedBefore(nowMs: number): Date {
  return new Date(nowMs - ADDRESS_REST_MS)
}

/** Separate statements after the lock, so that they see what its last holder committed. */
async function takeRested(tx: Db, domainId: string, { before, max }: { before: Date; max: number }): Promise<string[]> {
  await wake(tx, domainId, before)
  return takeLowestRested(tx, domainId, max)
}

/** Moves the addresses that have rested long enough, each once per release. */
async function wake(tx: Db, domainId: string, before: Date): Promise<void> {
  await tx
    .with('due', (on) =>
      on
        .deleteFrom('mesh_addresses_resting')
        .where('domain_id', '=', domainId)
        .where('freed_at', '<=', before)
        .returning(['domain_id', 'mesh_address']),
    )
    .insertInto('mesh_addresses_rested')
    .columns(['domain_id', 'mesh_address'])
    .expression((on) => on.selectFrom('due').select(['domain_id', 'mesh_address']))
    .execute()
}

/** Ascending. */
async function takeLowestRested(tx: Db, domainId: string, max: number): Promise<string[]> {
  const { rows } = await sql<{ mesh_address: string }>`
    with taken as (
      delete from mesh_addresses_rested where domain_id = ${domainId} and mesh_address in (
        select mesh_address from mesh_addresses_rested where domain_id = ${domainId} order by mesh_address limit ${max}
      )
      returning mesh_address
    )
    select mesh_address from taken order by mesh_address`.execute(tx)
  return rows.map(({ mesh_address: address }) => address)
}
