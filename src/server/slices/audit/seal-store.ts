import { sql } from 'kysely'
import type { ChainPosition } from '../../../shared/audit/chain.ts'
import type { Db } from '../../ports/datastore.ts'
import type { AuditRecord } from './store.ts'

/** Rows taken off the queue, and how many of them no longer exist, by Domain. */
export interface Claimed {
  readonly rows: readonly AuditRecord[]
  readonly vanished: ReadonlyMap<string | null, number>
}

/** A row with its place. */
export interface Seal extends ChainPosition {
  readonly id: string
}

/** Seals to add to one chain. */
export interface ChainSeals {
  readonly chainId: number
  /** In the order of their numbers, one at least. */
  readonly seals: readonly Seal[]
}

/** A chain locked against every other sealer, with its last place. */
export interface LockedChain {
  readonly id: number
  readonly domainId: string | null
  readonly last: ChainPosition
}

/**
 * Takes the oldest entries off the queue, about `rowsMax` rows, and reads their rows. A second caller waits for the
 * first and finds other entries.
 */
export async function claimUnsealed(tx: Db, rowsMax: number): Promise<Claimed> {
  const { rows: entries } = await sql<{ domain_id: string | null; audit_ids: string[] }>`
    with oldest as (select id, row_count from audit_unsealed order by id limit ${rowsMax}::integer),
         summed as (select id, row_count, sum(row_count) over (order by id) as total from oldest)
    delete from audit_unsealed
    where id = any (array(select id from summed where total - row_count < ${rowsMax}::integer))
    returning domain_id, audit_ids`.execute(tx)
  const ids = entries.flatMap(({ audit_ids }) => audit_ids)
  if (ids.length === 0) return { rows: [], vanished: new Map() }
  const rows = await tx
    .selectFrom('audit')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
  return { rows, vanished: rows.length === ids.length ? new Map() : vanishedOf(entries, rows) }
}

function vanishedOf(
  entries: readonly { readonly domain_id: string | null; readonly audit_ids: readonly string[] }[],
  rows: readonly AuditRecord[],
): ReadonlyMap<string | null, number> {
  const found = new Set(rows.map(({ id }) => id))
  const vanished = new Map<string | null, number>()
  for (const { domain_id, audit_ids } of entries) {
    const count = audit_ids.filter((id) => !found.has(id)).length
    if (count > 0) vanished.set(domain_id, (vanished.get(domain_id) ?? 0) + count)
  }
  return vanished
}

/** Locks the chains of these Domains (null: the platform's), in one order; new ones start at zero. */
export async function lockChains(tx: Db, domainIds: readonly (string | null)[]): Promise<LockedChain[]> {
  const domains = domainIds.filter((id) => id !== null)
  await sql`
    insert into audit_chains (domain_id, sealed_seq, sealed_hash, signed_seq, checkpoint_seq, pruned_seq)
    select domain_id, 0, decode(repeat('00', 32), 'hex'), 0, 0, 0 from unnest(${domainIds}::uuid[]) as asked (domain_id)
    where not exists (select from audit_chains as known where known.domain_id is not distinct from asked.domain_id)
    order by domain_id
    on conflict (domain_id) do nothing`.execute(tx)
  const { rows } = await sql<{ id: number; domain_id: string | null; sealed_seq: string; sealed_hash: Buffer }>`
    select id, domain_id, sealed_seq, sealed_hash from audit_chains
    where domain_id = any(${domains}::uuid[]) or (domain_id is null and ${domainIds.includes(null)}::boolean)
    order by id for update`.execute(tx)
  return rows.map(({ id, domain_id, sealed_seq, sealed_hash }) => ({
    id,
    domainId: domain_id,
    last: { seq: Number(sealed_seq), hash: sealed_hash.toString('hex') },
  }))
}

/** Adds seals and advances their chains. */
export async function addSeals(tx: Db, chains: readonly ChainSeals[]): Promise<void> {
  const all = chains.flatMap(({ chainId, seals }) => seals.map((seal) => ({ chainId, ...seal })))
  await sql`
    insert into audit_seals (chain_id, seq, audit_id, hash)
    select chain_id, seq, audit_id, decode(hash, 'hex')
    from unnest(
      ${all.map(({ chainId }) => chainId)}::integer[], ${all.map(({ seq }) => seq)}::bigint[],
      ${all.map(({ id }) => id)}::uuid[], ${all.map(({ hash }) => hash)}::text[]
    ) as seal (chain_id, seq, audit_id, hash)`.execute(tx)
  const ends = chains.flatMap(({ chainId, seals }) => seals.slice(-1).map((seal) => ({ chainId, ...seal })))
  await sql`
    update audit_chains set sealed_seq = last.seq, sealed_hash = decode(last.hash, 'hex')
    from unnest(
      ${ends.map(({ chainId }) => chainId)}::integer[], ${ends.map(({ seq }) => seq)}::bigint[],
      ${ends.map(({ hash }) => hash)}::text[]
    ) as last (chain_id, seq, hash)
    where audit_chains.id = last.chain_id`.execute(tx)
}

/** Losses recorded at a time. */
const GAPS_MAX = 1_000

/** Takes the counts of rows that could not be written, by Domain. */
export async function takeGaps(tx: Db): Promise<ReadonlyMap<string | null, number>> {
  const { rows } = await sql<{ domain_id: string | null; row_count: number }>`
    delete from audit_gaps where id = any (array(select id from audit_gaps order by id limit ${GAPS_MAX}::integer))
    returning domain_id, row_count`.execute(tx)
  const gaps = new Map<string | null, number>()
  for (const { domain_id, row_count } of rows) gaps.set(domain_id, (gaps.get(domain_id) ?? 0) + row_count)
  return gaps
}

/** Adds rows of the sealer itself; they pass through the queue like any others. */
export async function addRows(tx: Db, rows: readonly AuditRecord[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row) => ({ ...row, context: JSON.stringify(row.context) }))
  await tx.insertInto('audit').values(values).execute()
}
