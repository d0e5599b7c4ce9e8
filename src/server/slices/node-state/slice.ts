import type { Logger } from 'pino'
import type { StaleAnswersOptions } from '../../ports/stale-answers.ts'
import type { Slice } from '../../http/slice.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createNodeState } from './service.ts'

export interface NodeStatePorts {
  readonly datastore: Datastore
  readonly staleStates: StaleAnswersOptions
  readonly log: Logger
}

/** The state that a node pulls. */
export function createSlice({ datastore, staleStates, log }: NodeStatePorts): Slice<'nodeState'> {
  const state = createNodeState({
    datastore,
    staleStates,
    onFailure: (error) => log.warn({ err: error }, 'what nodes have pulled could not be stored'),
  })
  return { handlers: { nodeState: state.handlers }, flush: () => state.settled() }
}
