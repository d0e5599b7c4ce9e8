import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { BootError } from '../ports/boot-error.ts'
import type { ReleaseVerifier } from '../ports/release-verifier.ts'

/**
 * Opens the verification of releases; undefined where no signers are configured. What it needs is loaded only where
 * there are some.
 *
 * @throws BootError in one sentence for a trusted root that cannot be read or used.
 */
export async function openReleaseVerifier({
  releaseSigners: signers,
  sigstoreTrustedRoot: path,
}: Pick<Config, 'releaseSigners' | 'sigstoreTrustedRoot'>): Promise<ReleaseVerifier | undefined> {
  if (signers.length === 0) return undefined
  const { createSigstoreVerifier } = await import('../adapters/sigstore/sigstore-verifier.ts')
  if (path === undefined) return createSigstoreVerifier({ signers })
  const trustedRoot = bytesOf(path)
  try {
    return createSigstoreVerifier({ signers, trustedRoot })
  } catch (error) {
    const fault = error instanceof Error ? error.message : 'cannot be used'
    throw new BootError(1, `--sigstore-trusted-root names ${path}, which ${fault}.`, error)
  }
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new BootError(1, `--sigstore-trusted-root names ${path}, which cannot be read.`, error)
  }
}
