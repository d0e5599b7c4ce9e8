import { chainOf } from '../../../shared/audit/chain.ts'
import { signedBytes, type PositionKind } from '../../../shared/audit/signed-position.ts'
import type { Signer } from '../../ports/signer.ts'
import type { PositionOfChain, SignedOfChain } from './head-store.ts'

/** Signs positions of chains with one key, each as of its instant. Called outside of transactions: a signer may be remote. */
export async function signPositions(
  signer: Signer,
  kind: PositionKind,
  positions: readonly (PositionOfChain & { readonly atMs: number })[],
): Promise<readonly SignedOfChain[]> {
  const texts = positions.map(({ domainId, seq, hash, atMs }) =>
    Buffer.from(signedBytes(kind, chainOf(domainId), { seq, hash, at: new Date(atMs).toISOString() })),
  )
  const { kid, signatures } = await signer.signMany(texts)
  return positions.map(({ chainId, seq, hash, atMs }, index) => {
    const signature = signatures[index]
    if (signature === undefined) throw new Error('a signer gave too few signatures')
    return { chainId, seq, hash, at: new Date(atMs).toISOString(), kid, signature: signature.toString('base64url') }
  })
}
