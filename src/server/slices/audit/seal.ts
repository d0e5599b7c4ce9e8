import { sealHash, type ChainPosition, type Sha256 } from '../../../shared/audit/chain.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import { decisionOf } from './decision.ts'
import { gapRow, type GapReason } from './gap.ts'
import { addRows, addSeals, claimUnsealed, lockChains, takeGaps, type Claimed, type Seal } from './seal-store.ts'
import type { AuditRecord } from './store.ts'

export interface SealDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly sha256: Sha256
  /** Rows sealed in one transaction at most, give or take one entry of the queue. */
  readonly batchRows: number
}

/**
 * Seals the oldest rows of the queue in one transaction: each chain's in the order (at, id) of what is visible, numbered
 * from the chain's own locked row. A row that becomes visible later than younger ones is sealed when it is seen, under a
 * higher number.
 * @returns how many rows it sealed.
 */
export async function sealBatch(tx: Db, deps: SealDeps): Promise<number> {
  await sayGaps(tx, deps, { reason: 'write_failed', rows: await takeGaps(tx) })
  const claimed = await claimUnsealed(tx, deps.batchRows)
  await sayGaps(tx, deps, { reason: 'vanished', rows: claimed.vanished })
  if (claimed.rows.length > 0) await sealRows(tx, deps, claimed)
  return claimed.rows.length
}

async function sealRows(tx: Db, { sha256 }: SealDeps, { rows }: Claimed): Promise<void> {
  const byDomain = grouped(rows)
  const locked = await lockChains(tx, [...byDomain.keys()])
  const chains = locked.map(({ id, domainId, last }) => ({
    chainId: id,
    seals: sealsOf(byDomain.get(domainId) ?? [], last, sha256),
  }))
  await addSeals(tx, chains)
}

function grouped(rows: readonly AuditRecord[]): ReadonlyMap<string | null, readonly AuditRecord[]> {
  const byDomain = new Map<string | null, AuditRecord[]>()
  for (const row of rows) {
    const known = byDomain.get(row.domain_id)
    if (known === undefined) byDomain.set(row.domain_id, [row])
    else known.push(row)
  }
  return byDomain
}

function sealsOf(rows: readonly AuditRecord[], last: ChainPosition, sha256: Sha256): readonly Seal[] {
  let previous = last
  return rows.toSorted(byTime).map((row) => {
    const hash = sealHash(sha256, previous, decisionOf(row))
    previous = { seq: previous.seq + 1, hash }
    return { ...previous, id: row.id }
  })
}

/** Ids are lower-case UUIDs: their text sorts as their bytes do. */
function byTime(one: AuditRecord, other: AuditRecord): number {
  return one.at.getTime() - other.at.getTime() || (one.id < other.id ? -1 : 1)
}

/** Missing rows, by Domain. */
interface Gaps {
  readonly reason: GapReason
  readonly rows: ReadonlyMap<string | null, number>
}

async function sayGaps(tx: Db, { clock, ids }: SealDeps, { reason, rows }: Gaps): Promise<void> {
  const at = new Date(clock.now())
  await addRows(
    tx,
    [...rows].map(([domainId, count]) => gapRow({ id: ids.next(), at, domainId }, reason, count)),
  )
}
