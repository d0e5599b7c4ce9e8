import { chainOf } from '../../../shared/audit/chain.ts'
import { signedBytes, type PlaceKind } from '../../../shared/audit/signed-place.ts'
import type { Signer } from '../../ports/signer.ts'
import type { PlaceOfChain, SignedOfChain } from './head-store.ts'

/** Signs a position of a chain as of that instant. Called outside of transactions: a signer may be remote. */
export async function signPlace(
  signer: Signer,
  kind: PlaceKind,
  place: PlaceOfChain & { readonly atMs: number },
): Promise<SignedOfChain> {
  const { chainId, seq, hash } = place
  const at = new Date(place.atMs).toISOString()
  const { kid, signature } = await signer.sign(signedBytes(kind, chainOf(place.domainId), { seq, hash, at }))
  return { chainId, seq, hash, at, kid, signature: signature.toString('base64url') }
}
