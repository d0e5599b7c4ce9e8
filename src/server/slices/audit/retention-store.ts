import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PositionOfChain } from './head-store.ts'

/** A chain whose oldest rows must be deleted. */
export interface PrunableChain {
  readonly id: number
  readonly prunedSeq: number
  readonly checkpointSeq: number
}

/** Finds a chain with rows before its checkpoint, and locks it. */
export async function prunableChain(tx: Db): Promise<PrunableChain | undefined> {
  const row = await tx
    .selectFrom('audit_chains')
    .select(['id', 'pruned_seq', 'checkpoint_seq'])
    .whereRef('pruned_seq', '<', 'checkpoint_seq')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
  return row && { id: row.id, prunedSeq: Number(row.pruned_seq), checkpointSeq: Number(row.checkpoint_seq) }
}

/** Deletes the rows of a chain up to a number, with their seals and heads; the newest checkpoint stays. */
export async function pruneThrough(tx: Db, chain: PrunableChain, through: number): Promise<void> {
  await sql`
    with gone as (
      delete from audit_seals
      where chain_id = ${chain.id} and seq > ${chain.prunedSeq} and seq <= ${through}
      returning audit_id
    )
    delete from audit where id = any (array(select audit_id from gone))`.execute(tx)
  await sql`
    delete from audit_heads
    where chain_id = ${chain.id} and seq <= ${through} and (kind = 'head' or seq < ${chain.checkpointSeq})`.execute(tx)
  await tx
    .updateTable('audit_chains')
    .set({ pruned_seq: String(through) })
    .where('id', '=', chain.id)
    .execute()
}

/** How long rows are kept, and as of when. */
export interface Keeping {
  readonly now: Date
  /** For the platform's chain, and those of deleted Domains. */
  readonly platformDays: number
}

/** Chains given a checkpoint in one pass. */
const CHAINS_MAX = 50

/**
 * Finds the positions at which chains may be cut: their newest heads older than the Domain's retention. What a head covers was
 * sealed before it was signed, so every row before the cut is older still.
 */
export async function cuttablePlaces(tx: Db, { now, platformDays }: Keeping): Promise<PositionOfChain[]> {
  const { rows } = await sql<{ id: number; domain_id: string | null; seq: string; hash: Buffer }>`
    select chain.id, chain.domain_id, head.seq, head.hash
    from audit_chains as chain
    left join domains on domains.id = chain.domain_id
    cross join lateral (
      select seq, hash from audit_heads
      where chain_id = chain.id and kind = 'head'
        and at < ${now}::timestamptz - make_interval(days => coalesce(domains.audit_retention_days, ${platformDays}::integer))
      order by at desc, seq desc limit 1
    ) as head
    where head.seq > chain.checkpoint_seq
    order by chain.id limit ${CHAINS_MAX}::integer`.execute(tx)
  return rows.map(({ id, domain_id, seq, hash }) => ({
    chainId: id,
    domainId: domain_id,
    seq: Number(seq),
    hash: hash.toString('hex'),
  }))
}

/** Records that a chain now begins after its checkpoint. */
export async function noteCheckpoint(
  tx: Db,
  { chainId, seq }: Pick<PositionOfChain, 'chainId' | 'seq'>,
): Promise<void> {
  await tx
    .updateTable('audit_chains')
    .set({ checkpoint_seq: String(seq) })
    .where('id', '=', chainId)
    .where('checkpoint_seq', '<', String(seq))
    .execute()
}
