import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createExecutionForgetting, createExecutionTimeouts } from './execution-sweeper.ts'
import { createExecutions, type ExecutionsDeps } from './service.ts'

export { contents } from './contents.ts'

/** Executions: actions that nodes carry out. */
export function createSlice({ clock, ...ports }: ExecutionsDeps & { readonly clock: Clock }): Slice<'executions'> {
  return {
    handlers: { executions: createExecutions(ports) },
    jobs: [createExecutionTimeouts({ clock }), createExecutionForgetting({ clock })],
  }
}
