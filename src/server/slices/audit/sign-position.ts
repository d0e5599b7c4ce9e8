import { chainOf } from '../../../shared/audit/chain.ts'
import { signedBytes, type PositionKind } from '../../../shared/audit/signed-position.ts'
import type { Signer } from '../../ports/signer.ts'
import type { PositionOfChain, SignedOfChain } from './head-store.ts'

/** Signs a position of a chain as of that instant. Called outside of transactions: a signer may be remote. */
export async function signPosition(
  signer: Signer,
  kind: PositionKind,
  position: PositionOfChain & { readonly atMs: number },
): Promise<SignedOfChain> {
  const { chainId, seq, hash } = position
  const at = new Date(position.atMs).toISOString()
  const { kid, signature } = await signer.sign(signedBytes(kind, chainOf(position.domainId), { seq, hash, at }))
  return { chainId, seq, hash, at, kid, signature: signature.toString('base64url') }
}
