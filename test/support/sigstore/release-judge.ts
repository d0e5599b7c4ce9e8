import { createHash } from 'node:crypto'
import { createSigstoreVerifier } from '../../../src/server/adapters/sigstore/sigstore-verifier.ts'
import type { JudgedArtifact, ReleaseVerifier, Verdict } from '../../../src/server/ports/release-verifier.ts'
import { createSigstoreWorld, RELEASE_SIGNER, serialized, type Attestation, type SigstoreWorld } from './make-bundle.ts'

/** The binary of a release 1.5.0 and its SHA-256. */
export const BINARY = Buffer.from('the agent 1.5.0 for amd64')
export const CHECKSUM = createHash('sha256').update(BINARY).digest('hex')

export const VERIFIED: Verdict = {
  verdict: 'verified',
  signedBy: 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v1.5.0',
}

export function unverified(reason: string): Verdict {
  return { verdict: 'unverified', reason }
}

export interface ReleaseJudge {
  readonly world: SigstoreWorld
  readonly verifier: ReleaseVerifier
  /** Judges an attestation of the release, made as asked. */
  attested(attestation?: Attestation, artifact?: Partial<JudgedArtifact>): Promise<Verdict>
  /** Judges a bundle, as JSON or bytes. */
  judge(bundle: object | Uint8Array, artifact?: Partial<JudgedArtifact>): Promise<Verdict>
}

/** A verifier of releases that trusts one signer of a Sigstore instance of its own. */
export async function createReleaseJudge(signers = [RELEASE_SIGNER]): Promise<ReleaseJudge> {
  const world = await createSigstoreWorld()
  const verifier = createSigstoreVerifier({ signers, trustedRoot: world.trustedRoot })
  const judge: ReleaseJudge['judge'] = (bundle, artifact) =>
    verifier.judge({
      version: '1.5.0',
      checksum: CHECKSUM,
      bundle: bundle instanceof Uint8Array ? bundle : serialized(bundle),
      ...artifact,
    })
  return {
    world,
    verifier,
    judge,
    attested: async (attestation, artifact) =>
      judge(await world.bundle({ version: '1.5.0', binary: BINARY, ...attestation }), artifact),
  }
}
