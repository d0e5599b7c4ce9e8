import { signedEnvelope } from '../../../shared/events/envelope.ts'
import type { Signer } from '../../ports/signer.ts'

/**
 * Signs envelopes with one key and returns the data of their frames. An envelope names the key that signs it: if the key changes
 * in between, the envelopes are built again.
 *
 * @param write builds the canonical texts for a key.
 * @throws the errors of the signer.
 */
export async function signEnvelopes(signer: Signer, write: (kid: string) => readonly string[]): Promise<string[]> {
  let kid = signer.keys()[0]?.kid ?? ''
  for (let tries = 0; tries < 3; tries++) {
    const canonical = write(kid)
    const signed = await signer.signMany(canonical.map((text) => Buffer.from(text)))
    if (signed.kid === kid) {
      return canonical.map((text, at) =>
        signedEnvelope(text, (signed.signatures[at] ?? Buffer.alloc(0)).toString('base64url')),
      )
    }
    kid = signed.kid
  }
  throw new Error('the signing key changes faster than an envelope can be signed')
}
