import { CHAIN_START, type ChainPlace } from '../../../shared/audit/chain.ts'
import type { PlaceKind, SignedPlace } from '../../../shared/audit/signed-place.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { placeAt, signedAt, type ChainState } from './chain-store.ts'

/** Where verification of a chain begins, and the signature over that position where there is one. */
export interface Start extends ChainPlace {
  readonly signed: (Omit<SignedPlace, 'seq' | 'hash'> & { readonly kind: PlaceKind }) | null
}

/** The first row of the chain has no predecessor. */
const FROM_THE_FIRST: Start = { ...CHAIN_START, signed: null }

/** The start after a signed place. */
export function startAfter(kind: PlaceKind, { seq, hash, at, kid, signature }: SignedPlace): Start {
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
  if (seq > checkpointSeq) return placeStart(await placeAt(db, id, seq))
  const checkpoint = await signedAt(db, id, { kind: 'checkpoint', seq })
  return checkpoint && startAfter('checkpoint', checkpoint)
}

function placeStart(place: ChainPlace | undefined): Start | undefined {
  return place && { ...place, signed: null }
}
