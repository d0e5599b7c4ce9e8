import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createEndpointSweeper } from './endpoint-sweeper.ts'
import { createNodeObservations, type NodeObservationsDeps } from './service.ts'
import { createViolationSweeper } from './violation-sweeper.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** What nodes report: endpoints, capabilities, state reports and integrity violations. */
export function createSlice({
  datastore,
  unitOfWork,
  ids,
  clock,
}: NodeObservationsDeps & { readonly clock: Clock }): Slice<'nodeObservations'> {
  return {
    handlers: { nodeObservations: createNodeObservations({ datastore, unitOfWork, ids }) },
    jobs: [createEndpointSweeper({ datastore, clock, ids }), createViolationSweeper({ clock })],
  }
}
