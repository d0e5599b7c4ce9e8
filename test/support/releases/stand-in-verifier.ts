import { createHash } from 'node:crypto'
import type { ReleaseVerifier, Verdict } from '../../../src/server/ports/release-verifier.ts'

/** Who signs what the stand-in accepts. */
export const STAND_IN_SIGNER = 'https://builder.example/release'

const PREFIX = 'stand-in attestation of '

/** An attestation of a binary that the stand-in accepts. */
export function attestationOf(checksum: string): Buffer {
  return Buffer.from(`${PREFIX}${checksum}`)
}

/** A signature over a document that the stand-in accepts. */
export function documentSignatureOf(document: Uint8Array | string): Buffer {
  return attestationOf(createHash('sha256').update(document).digest('hex'))
}

/**
 * Takes the place of Sigstore in tests of what is done with a verdict: a server that has it knows whose releases to trust.
 * Another fingerprint stands for other signers, which trust nothing that was attested before.
 */
export function standInVerifier(fingerprint = 'stand-in'): ReleaseVerifier {
  const judged = (checksum: string, bundle: Uint8Array | undefined): Verdict => {
    if (bundle === undefined) return { verdict: 'unverified', reason: 'There is no attestation.' }
    const isRight = Buffer.from(bundle).equals(attestationOf(checksum))
    return isRight
      ? { verdict: 'verified', signedBy: STAND_IN_SIGNER }
      : { verdict: 'unverified', reason: 'The attestation is about something else.' }
  }
  return {
    fingerprint,
    judge: async ({ checksum, bundle }) => judged(checksum, bundle),
    judgeDocument: async (document, bundle) => judged(createHash('sha256').update(document).digest('hex'), bundle),
  }
}
