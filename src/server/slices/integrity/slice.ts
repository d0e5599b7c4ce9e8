import type { Slice } from '../../http/slice.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import { createArtifactSweeper } from './artifact-sweeper.ts'
import { createIntegrity, type IntegrityDeps } from './service.ts'
import { createViolationResolver } from './violation-resolver.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface IntegrityPorts extends IntegrityDeps {
  readonly clock: Clock
  readonly ids: IdSource
}

/** The triage of integrity violations: lists, acknowledgements, and the job that resolves what is over. */
export function createSlice({ datastore, clock, ids }: IntegrityPorts): Slice<'integrity'> {
  return {
    handlers: { integrity: createIntegrity({ datastore }) },
    jobs: [createViolationResolver({ clock, ids }), createArtifactSweeper()],
  }
}
