import type { Logger } from 'pino'
import type { Slice } from '../../http/slice.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { createIndexer } from './indexer.ts'
import { createRejudging } from './rejudging.ts'
import { openSource, type SourceDeps, type SourcePlace } from './release-source.ts'
import { createArtifacts, type ArtifactsDeps } from './service.ts'

export interface ArtifactsPorts extends ArtifactsDeps, SourceDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** Undefined where no signers are configured: the server does not know whose releases to trust. */
  readonly releaseVerifier: ReleaseVerifier | undefined
  /** Undefined: releases are imported on the host alone. */
  readonly releasesSource: SourcePlace | undefined
}

/** Releases of the node agent, their attestations, and where they come from. */
export function createSlice(ports: ArtifactsPorts): Slice<'artifacts'> {
  const { releaseVerifier: verifier } = ports
  if (verifier === undefined) return { handlers: { artifacts: undefined } }
  return { handlers: { artifacts: createArtifacts(ports) }, jobs: jobsOf(ports, verifier) }
}

function jobsOf(ports: ArtifactsPorts, verifier: ReleaseVerifier): LeaderJob[] {
  const { releasesSource: place } = ports
  const jobs = [createRejudging({ ...ports, verifier })]
  if (place !== undefined) jobs.push(createIndexer({ ...ports, verifier, source: openSource(place, ports) }))
  return jobs
}
