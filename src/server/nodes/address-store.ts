import { sql } from 'kysely'
import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import { ADDRESS_REST_MS, meshAddress, meshBlock } from './mesh-address.ts'

/** The Domain that an address is for. */
export interface MeshDomain {
  readonly id: string
  readonly meshCidr: string
}

/**
 * Takes the lowest mesh address that no node of the Domain has and that is not resting.
 *
 * A Domain's addresses lie in one of four places: a node has it; it rests; it has rested; or no node ever had it, which
 * are all those from the pool's `next_number` on. The lowest free one is therefore the lowest rested one, else
 * `next_number`: two index reads, however large the Domain. The pool's row is the lock that makes allocations of one
 * Domain take turns, until the transaction ends.
 *
 * @throws Problem `mesh_addresses_exhausted`.
 */
export async function allocateAddress(tx: Db, domain: MeshDomain, nowMs: number): Promise<string> {
  const restedBefore = new Date(nowMs - ADDRESS_REST_MS)
  const { number, hasRested } = await lockPool(tx, domain.id, restedBefore)
  const rested = hasRested ? await takeRested(tx, domain.id, restedBefore) : undefined
  if (rested !== undefined) {
    await tx.updateTable('mesh_pools').set({ next_number: number }).where('domain_id', '=', domain.id).execute()
    return rested
  }
  const block = meshBlock(domain.meshCidr)
  if (number > block.last) throw problem('mesh_addresses_exhausted')
  return meshAddress(block, number)
}

/** Puts an address to rest that its node no longer has. */
export async function restAddress(tx: Db, domainId: string, freed: { address: string; atMs: number }): Promise<void> {
  await tx
    .insertInto('mesh_addresses_resting')
    .values({ domain_id: domainId, mesh_address: freed.address, freed_at: new Date(freed.atMs) })
    .execute()
}

/**
 * Locks the Domain's pool and takes its next number, as if no address had rested: that is nearly always so. Whether one
 * has is seen as of before the lock was waited for, which may say yes in vain: its last holder took it.
 */
async function lockPool(tx: Db, domainId: string, restedBefore: Date): Promise<{ number: number; hasRested: boolean }> {
  const { next_number, has_rested } = await tx
    .insertInto('mesh_pools')
    .values({ domain_id: domainId, next_number: 2 })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet({ next_number: sql<number>`mesh_pools.next_number + 1` }),
    )
    .returning((on) => [
      'next_number',
      on
        .or([
          on.exists(on.selectFrom('mesh_addresses_rested').where('domain_id', '=', domainId)),
          on.exists(
            on
              .selectFrom('mesh_addresses_resting')
              .where('domain_id', '=', domainId)
              .where('freed_at', '<=', restedBefore),
          ),
        ])
        .as('has_rested'),
    ])
    .executeTakeFirstOrThrow()
  return { number: next_number - 1, hasRested: Boolean(has_rested) }
}

/** Statements of their own after the lock, so that they see what its last holder committed. */
async function takeRested(tx: Db, domainId: string, restedBefore: Date): Promise<string | undefined> {
  await wake(tx, domainId, restedBefore)
  return takeLowestRested(tx, domainId)
}

/** Moves what has rested long enough: each address once for each time that it was freed. */
async function wake(tx: Db, domainId: string, restedBefore: Date): Promise<void> {
  await tx
    .with('due', (on) =>
      on
        .deleteFrom('mesh_addresses_resting')
        .where('domain_id', '=', domainId)
        .where('freed_at', '<=', restedBefore)
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
