import type { Slice } from '../../http/slice.ts'
import { createNodeEvents, type NodeEventsDeps } from './service.ts'

/** Signed event streams of nodes. */
export function createSlice(ports: NodeEventsDeps): Slice<'nodeEvents'> {
  const events = createNodeEvents(ports)
  return { handlers: { nodeEvents: events.handlers }, start: () => events.start(), flush: () => events.stop() }
}
