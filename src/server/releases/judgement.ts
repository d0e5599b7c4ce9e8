import type { ReleaseVerifier, Verdict } from '../ports/release-verifier.ts'
import type { ArchitectureContent } from './release-content.ts'

/** Whether a release is verified, as its row says it. */
export interface Judgement {
  readonly verdict: 'verified' | 'unverified'
  readonly verdict_reason: string | null
  readonly signed_by: string | null
  readonly judged_with: string
}

/** Between the identities of several signers; no identity has it. */
const SEPARATOR = ', '

/** Verdicts on architectures, by their names. */
export type Verdicts = ReadonlyMap<string, Verdict>

/** Judges each architecture of a release by its own attestation. */
export async function judgeArchitectures(
  verifier: ReleaseVerifier,
  version: string,
  architectures: readonly ArchitectureContent[],
): Promise<Verdicts> {
  const verdicts = new Map<string, Verdict>()
  for (const { architecture, checksum, bundle, binary } of architectures) {
    const given = { version, checksum, bundle, ...(binary !== undefined && { binary }) }
    verdicts.set(architecture, await verifier.judge(given))
  }
  return verdicts
}

/**
 * The judgement of a release: verified where every architecture is (decisions: Release registry), else the reason of the
 * first one that is not, by name.
 */
export function judgementOf({ fingerprint }: ReleaseVerifier, verdicts: Verdicts): Judgement {
  const signers = new Set<string>()
  for (const [architecture, judged] of [...verdicts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (judged.verdict === 'unverified') {
      const verdict_reason = `${architecture}: ${judged.reason}`
      return { verdict: 'unverified', verdict_reason, signed_by: null, judged_with: fingerprint }
    }
    for (const signer of judged.signedBy.split(SEPARATOR)) signers.add(signer)
  }
  return {
    verdict: 'verified',
    verdict_reason: null,
    signed_by: [...signers].toSorted().join(SEPARATOR),
    judged_with: fingerprint,
  }
}
