import { sql, type Selectable } from 'kysely'
import type { ChainPosition } from '../../../shared/audit/chain.ts'
import type { SignedPosition } from '../../../shared/audit/signed-position.ts'
import type { Db } from '../../ports/datastore.ts'
import type { AuditHeadRow } from './tables.ts'
import { decisionOf } from './decision.ts'
import type { AuditRecord } from './store.ts'

/** The current state of a chain, read in one statement. */
export interface ChainState {
  readonly id: number
  readonly domainId: string | null
  readonly sealed: ChainPosition
  /** Where verification of the chain begins: 0 while nothing was pruned. */
  readonly checkpointSeq: number
  /** A head beyond the last row; it exists only if somebody deleted rows. */
  readonly strayHeadSeq: number | undefined
}

/** Reads a chain; undefined while nothing was sealed in it. */
export async function readChain(db: Db, domainId: string | null): Promise<ChainState | undefined> {
  const { rows } = await sql<{
    id: number
    sealed_seq: string
    sealed_hash: Buffer
    checkpoint_seq: string
    stray_seq: string | null
  }>`
    select id, sealed_seq, sealed_hash, checkpoint_seq,
      (select min(seq) from audit_heads where chain_id = audit_chains.id and kind = 'head' and seq > sealed_seq) as stray_seq
    from audit_chains
    where ${domainId === null ? sql`domain_id is null` : sql`domain_id = ${domainId}`}`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  return {
    id: row.id,
    domainId,
    sealed: { seq: Number(row.sealed_seq), hash: row.sealed_hash.toString('hex') },
    checkpointSeq: Number(row.checkpoint_seq),
    strayHeadSeq: row.stray_seq === null ? undefined : Number(row.stray_seq),
  }
}

/** Rows that wait for their seal are counted up to about this many. */
const UNSEALED_ENTRIES_MAX = 10_000

/** Counts rows of a chain that are not sealed yet; at most the first 10,000 entries of the queue. */
export async function countUnsealed(db: Db, domainId: string | null): Promise<number> {
  const { rows } = await sql<{ count: string | null }>`
    select sum(row_count) as count from (
      select row_count from audit_unsealed
      where ${domainId === null ? sql`domain_id is null` : sql`domain_id = ${domainId}`}
      limit ${UNSEALED_ENTRIES_MAX}::integer
    ) as waiting`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** Reads the place of one number; undefined where it has no seal. */
export async function positionAt(db: Db, chainId: number, seq: number): Promise<ChainPosition | undefined> {
  const row = await db
    .selectFrom('audit_seals')
    .select('hash')
    .where('chain_id', '=', chainId)
    .where('seq', '=', String(seq))
    .executeTakeFirst()
  return row && { seq, hash: row.hash.toString('hex') }
}

/** Reads the signature at one number. */
export async function signedAt(
  db: Db,
  chainId: number,
  { kind, seq }: { readonly kind: AuditHeadRow['kind']; readonly seq: number },
): Promise<SignedPosition | undefined> {
  const row = await db
    .selectFrom('audit_heads')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('kind', '=', kind)
    .where('seq', '=', String(seq))
    .executeTakeFirst()
  return row && signedOf(row)
}

/** Numbers of a chain, `after` exclusive, `through` inclusive. */
export interface Stretch {
  readonly chainId: number
  readonly after: number
  readonly through: number
  readonly count: number
}

/** A row with its place. */
export type SealedRow = ReturnType<typeof decisionOf> & ChainPosition

/** Reads sealed rows in the order of the chain. The number of one whose audit row is gone is left out. */
export async function readSealed(db: Db, { chainId, after, through, count }: Stretch): Promise<SealedRow[]> {
  const rows = await db
    .selectFrom('audit_seals as seal')
    .innerJoin('audit', 'audit.id', 'seal.audit_id')
    .selectAll('audit')
    .select(['seal.seq', 'seal.hash'])
    .where('seal.chain_id', '=', chainId)
    .where('seal.seq', '>', String(after))
    .where('seal.seq', '<=', String(through))
    .orderBy('seal.seq')
    .limit(count)
    .execute()
  return rows.map(sealedOf)
}

function sealedOf(row: AuditRecord & { readonly seq: string; readonly hash: Buffer }): SealedRow {
  return { ...decisionOf(row), seq: Number(row.seq), hash: row.hash.toString('hex') }
}

/** Reads heads in the order of the chain. */
export async function readHeads(db: Db, { chainId, after, through, count }: Stretch): Promise<SignedPosition[]> {
  const rows = await db
    .selectFrom('audit_heads')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('kind', '=', 'head')
    .where('seq', '>', String(after))
    .where('seq', '<=', String(through))
    .orderBy('seq')
    .limit(count)
    .execute()
  return rows.map(signedOf)
}

/** Reads the newest head that was signed no later than `at`. */
export async function lastHeadUntil(db: Db, chainId: number, at: Date): Promise<SignedPosition | undefined> {
  const row = await heads(db, chainId)
    .where('at', '<=', at)
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .executeTakeFirst()
  return row && signedOf(row)
}

/** Reads the first head that was signed at `at` or later. */
export async function firstHeadFrom(db: Db, chainId: number, at: Date): Promise<SignedPosition | undefined> {
  const row = await heads(db, chainId).where('at', '>=', at).orderBy('at').orderBy('seq').executeTakeFirst()
  return row && signedOf(row)
}

/** Reads the newest head. */
export async function newestHead(db: Db, chainId: number): Promise<SignedPosition | undefined> {
  const row = await heads(db, chainId).orderBy('seq', 'desc').executeTakeFirst()
  return row && signedOf(row)
}

function heads(db: Db, chainId: number) {
  return db
    .selectFrom('audit_heads')
    .selectAll()
    .where('chain_id', '=', chainId)
    .where('kind', '=', sql.lit('head'))
    .limit(1)
}

function signedOf({ seq, hash, at, kid, signature }: Selectable<AuditHeadRow>): SignedPosition {
  return {
    seq: Number(seq),
    hash: hash.toString('hex'),
    at: at.toISOString(),
    kid,
    signature: signature.toString('base64url'),
  }
}
