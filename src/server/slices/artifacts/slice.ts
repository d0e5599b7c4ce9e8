import type { Slice } from '../../http/slice.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { createArtifacts, type ArtifactsDeps } from './service.ts'

export interface ArtifactsPorts extends ArtifactsDeps {
  /** Undefined where no signers are configured: the server does not know whose releases to trust. */
  readonly releaseVerifier: ReleaseVerifier | undefined
}

/** Releases of the node agent, their attestations, and where they come from. */
export function createSlice(ports: ArtifactsPorts): Slice<'artifacts'> {
  const { releaseVerifier } = ports
  return { handlers: { artifacts: releaseVerifier && createArtifacts(ports) } }
}
