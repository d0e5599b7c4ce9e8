import { sql, type RawBuilder } from 'kysely'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { ADDRESS_REST_MS, meshAddress, meshBlock } from './mesh-address.ts'

/** The Domain that an address is for. */
export interface MeshDomain {
  readonly id: string
  readonly meshCidr: string
}

/** The result of an allocation from a Domain's pool: a number, and whether a lower one may be free. */
export interface TakenNumber {
  readonly number: number
  readonly has_rested: boolean
}

/**
 * The part of a statement that locks the pool of the Domain whose id `domain` gives, if it gives one, and takes its next
 * number, as if no address had rested: that is nearly always so. Whether one has is read before the wait for the lock,
 * so the answer may be outdated: the last holder of the lock may have taken it.
 */
export function takeNumber(domain: RawBuilder<unknown>, nowMs: number): RawBuilder<TakenNumber> {
  return sql`
    insert into mesh_pools (domain_id, next_number) select domain_id, 2 from ${domain}
    on conflict (domain_id) do update set next_number = mesh_pools.next_number + 1
    returning next_number - 1 as number,
      exists (select from mesh_addresses_rested as rested where rested.domain_id = mesh_pools.domain_id)
        or exists (
          select from mesh_addresses_resting as resting
          where resting.domain_id = mesh_pools.domain_id and resting.freed_at <= ${restedBefore(nowMs)}
        ) as has_rested`
}

/**
 * Returns the lowest mesh address that no node of the Domain has and that is not resting. The caller has taken a number.
 *
 * An address of a Domain is in one of four states: a node has it; it rests; it has rested; or no node ever had it, which
 * are all those from the pool's `next_number` on. The lowest free one is therefore the lowest rested one, else
 * `next_number`: two index reads, however large the Domain. The lock on the pool's row serializes allocations of one
 * Domain until the transaction ends.
 *
 * @throws Problem `mesh_addresses_exhausted`.
 */
export async function addressFor(
  tx: Db,
  { domain, taken }: { readonly domain: MeshDomain; readonly taken: TakenNumber },
  nowMs: number,
): Promise<string> {
  const rested = taken.has_rested ? await takeRested(tx, domain.id, restedBefore(nowMs)) : undefined
  if (rested !== undefined) {
    await tx.updateTable('mesh_pools').set({ next_number: taken.number }).where('domain_id', '=', domain.id).execute()
    return rested
  }
  const block = meshBlock(domain.meshCidr)
  if (taken.number > block.last) throw problem('mesh_addresses_exhausted')
  return meshAddress(block, taken.number)
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
async function takeRested(tx: Db, domainId: string, before: Date): Promise<string | undefined> {
  await wake(tx, domainId, before)
  return takeLowestRested(tx, domainId)
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

async function takeLowestRested(tx: Db, domainId: string): Promise<string | undefined> {
  const taken = await tx
    .deleteFrom('mesh_addresses_rested')
    .where('domain_id', '=', domainId)
    .where('mesh_address', '=', (on) =>
      on
        .selectFrom('mesh_addresses_rested')
        .select('mesh_address')
        .where('domain_id', '=', domainId)
        .orderBy('mesh_address')
        .limit(1),
    )
    .returning('mesh_address')
    .executeTakeFirst()
  return taken?.mesh_address
}
