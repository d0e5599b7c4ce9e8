import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { createRolloutJob } from './rollout-job.ts'
import { createRollouts, type RolloutsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

interface Ports extends RolloutsDeps {
  readonly clock: Clock
  /** Undefined where no release can be verified: nothing is rolled out, and what is under way stands still. */
  readonly releaseVerifier: ReleaseVerifier | undefined
}

/** Rollouts, which upgrade nodes to a release in waves. */
export function createSlice({ releaseVerifier, ...ports }: Ports): Slice<'rollouts'> {
  if (releaseVerifier === undefined) return { handlers: { rollouts: undefined } }
  return { handlers: { rollouts: createRollouts(ports) }, jobs: [createRolloutJob(ports)] }
}
