import type { Slice } from '../../http/slice.ts'
import { createLabelConsumer } from './label-consumer.ts'
import { createGraph } from './graph.ts'
import { createPreview } from './preview.ts'
import { createReachability } from './reachability.ts'
import { createRematching } from './rematching.ts'
import { createPolicies, type PoliciesDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Policies, which say what nodes may reach each other. */
export function createSlice(ports: PoliciesDeps): Slice<'policies'> {
  return {
    handlers: {
      policies: {
        ...createPolicies(ports),
        ...createPreview(ports),
        ...createReachability(ports),
        ...createGraph(ports),
      },
    },
    consumers: [createLabelConsumer(ports)],
    jobs: [createRematching(ports)],
  }
}
