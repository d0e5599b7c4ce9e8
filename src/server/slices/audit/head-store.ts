import { sql } from 'kysely'
import type { ChainPosition } from '../../../shared/audit/chain.ts'
import type { PositionKind, SignedPosition } from '../../../shared/audit/signed-position.ts'
import type { Db } from '../../ports/datastore.ts'

/** A chain whose newest rows need a signature. */
export interface DueChain {
  readonly id: number
  readonly domainId: string | null
  readonly sealedSeq: number
  readonly signedSeq: number
  readonly signedAt: Date | undefined
}

/** A position in a chain. */
export interface PositionOfChain extends ChainPosition {
  readonly chainId: number
  readonly domainId: string | null
}

/** A signature to keep. */
export interface SignedOfChain extends SignedPosition {
  readonly chainId: number
}

/** Chains examined in one pass. */
const CHAINS_MAX = 100

/** Finds chains that have `everyRows` more rows than are signed, or any at all and were not signed since `before`. */
export async function dueChains(tx: Db, everyRows: number, before: Date): Promise<DueChain[]> {
  const { rows } = await sql<{
    id: number
    domain_id: string | null
    sealed_seq: string
    signed_seq: string
    signed_at: Date | null
  }>`
    select id, domain_id, sealed_seq, signed_seq, signed_at from audit_chains
    where sealed_seq > signed_seq
      and (sealed_seq / ${everyRows}::integer > signed_seq / ${everyRows}::integer
        or signed_at is null or signed_at <= ${before})
    order by id limit ${CHAINS_MAX}::integer`.execute(tx)
  return rows.map((row) => ({
    id: row.id,
    domainId: row.domain_id,
    sealedSeq: Number(row.sealed_seq),
    signedSeq: Number(row.signed_seq),
    signedAt: row.signed_at ?? undefined,
  }))
}

/** Reads the hashes at numbers of a chain. */
export async function placesAt(
  tx: Db,
  { id, domainId }: Pick<DueChain, 'id' | 'domainId'>,
  seqs: readonly number[],
): Promise<PositionOfChain[]> {
  const rows = await tx
    .selectFrom('audit_seals')
    .select(['seq', 'hash'])
    .where('chain_id', '=', id)
    .where('seq', '=', sql<string>`any(${seqs}::bigint[])`)
    .orderBy('seq')
    .execute()
  return rows.map(({ seq, hash }) => ({ chainId: id, domainId, seq: Number(seq), hash: hash.toString('hex') }))
}

/** Stores signed positions; existing ones stay. */
export async function addSigned(tx: Db, kind: PositionKind, places: readonly SignedOfChain[]): Promise<void> {
  const rows = places.map(({ chainId, seq, hash, at, kid, signature }) => ({
    chain_id: chainId,
    kind,
    seq: String(seq),
    hash: Buffer.from(hash, 'hex'),
    at: new Date(at),
    kid,
    signature: Buffer.from(signature, 'base64url'),
  }))
  await tx
    .insertInto('audit_heads')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['chain_id', 'kind', 'seq']).doNothing())
    .execute()
}

/** Records up to which number a chain is signed. */
export async function noteSigned(tx: Db, { chainId, seq, at }: SignedOfChain): Promise<void> {
  await tx
    .updateTable('audit_chains')
    .set({ signed_seq: String(seq), signed_at: new Date(at) })
    .where('id', '=', chainId)
    .where('signed_seq', '<', String(seq))
    .execute()
}
