import { CHAIN_START, type ChainPosition } from '../../../shared/audit/chain.ts'
import type { PositionKind, SignedPosition } from '../../../shared/audit/signed-position.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { positionAt, signedAt, type ChainState } from './chain-store.ts'

/** Where verification of a chain begins, and the signature over that position where there is one. */
export interface Start extends ChainPosition {
  readonly signed: (Omit<SignedPosition, 'seq' | 'hash'> & { readonly kind: PositionKind }) | null
}

/** The first row of the chain has no predecessor. */
const FROM_THE_FIRST: Start = { ...CHAIN_START, signed: null }

/** The start after a signed place. */
export function startAfter(kind: PositionKind, { seq, hash, at, kid, signature }: SignedPosition): Start {
  return { seq, hash, signed: { kind, at, kid, signature } }
}

/**
 * Where to begin for `fromSeq`: the place before it, no earlier than the newest checkpoint; undefined where that position has
 * been pruned.
 * @throws Problem `invalid_audit_filter` beyond the next row.
 */
export async function startOf(db: Db, chain: ChainState | undefined, fromSeq = 1): Promise<Start | undefined> {
  const { id = 0, checkpointSeq = 0, sealed = CHAIN_START } = chain ?? {}
  const seq = Math.max(fromSeq - 1, checkpointSeq)
  if (seq > sealed.seq) throw problem('invalid_audit_filter')
  if (seq === 0) return FROM_THE_FIRST
  if (seq > checkpointSeq) return startAt(await positionAt(db, id, seq))
  const checkpoint = await signedAt(db, id, { kind: 'checkpoint', seq })
  return checkpoint && startAfter('checkpoint', checkpoint)
}

function startAt(place: ChainPosition | undefined): Start | undefined {
  return place && { ...place, signed: null }
}
