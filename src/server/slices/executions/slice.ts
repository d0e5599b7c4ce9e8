import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createExecutionForgetting, createExecutionTimeouts } from './execution-sweeper.ts'
import { createExecutions, type ExecutionsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Executions: actions that nodes carry out. */
export function createSlice({
  datastore,
  ids,
  clock,
}: ExecutionsDeps & { readonly clock: Clock }): Slice<'executions'> {
  return {
    handlers: { executions: createExecutions({ datastore, ids }) },
    jobs: [createExecutionTimeouts({ clock }), createExecutionForgetting({ clock })],
  }
}
