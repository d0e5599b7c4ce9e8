import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createMediatedSessions, type MediatedSessionsDeps } from './service.ts'
import { createMediatedSessionEnds, createMediatedSessionForgetting } from './session-sweeper.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Mediated sessions: ways through a node to what it can reach. */
export function createSlice({
  clock,
  ...deps
}: MediatedSessionsDeps & { readonly clock: Clock }): Slice<'mediatedSessions'> {
  return {
    handlers: { mediatedSessions: createMediatedSessions(deps) },
    jobs: [createMediatedSessionEnds({ clock, ids: deps.ids }), createMediatedSessionForgetting({ clock })],
  }
}
