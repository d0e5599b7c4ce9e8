import type { FollowOptions } from '../../client/event-stream.ts'
import type { OpenAnswer } from '../../client/transport.ts'
import type { FleetDeps } from './fleet-deps.ts'
import { isRefusedKey } from './refused-key.ts'
import type { SimulatedNode } from './simulated-node.ts'

export interface ConnectionDeps extends Pick<FleetDeps, 'statistics'> {
  /** Whether the scenario expects the server to be away now. */
  readonly isOutage?: () => boolean
}

/** The connections of one stream, one after the other, counted. */
export interface StreamConnections {
  /** Asks as the given one does, and measures how long the head of the answer takes. */
  timed(connect: FollowOptions['connect']): FollowOptions['connect']
  opened(): void
  /** `code`: why, where it was not in order. */
  over(code: string | undefined): void
  isOpen(): boolean
  /** Breaks the one that is open, which is no error therefore. */
  cut(): void
}

/** Ends that a server brings about which stops, is overloaded, or is not there yet: the agent comes back. */
const PASSING = new Set(['shutting_down', 'overloaded', 'unreachable'])

/** Makes the account of a node's stream. */
export function createConnections(deps: ConnectionDeps, node: SimulatedNode): StreamConnections {
  const { statistics } = deps
  let [connections, isOpen, isCut] = [0, false, false]
  let answered: OpenAnswer | undefined

  return {
    timed: (connect) => async (headers, signal) => {
      const startedMs = performance.now()
      const answer = await connect(headers, signal)
      if (answer.status !== 200) return answer
      statistics.succeeded('stream', performance.now() - startedMs)
      answered = answer
      return answer
    },
    opened() {
      isOpen = true
      connections += 1
      statistics.count('streams')
      if (connections > 1) statistics.count('stream_reconnects')
    },
    over(code) {
      if (isOpen) statistics.count('streams', -1)
      isOpen = false
      answered = undefined
      if (code !== undefined && !isCut) countEnd(deps, node, code)
      isCut = false
    },
    isOpen: () => isOpen,
    cut() {
      isCut = answered !== undefined
      answered?.body.destroy()
    },
  }
}

/** Counts an end that was not in order under what it is. */
function countEnd({ statistics, isOutage }: ConnectionDeps, { isCutOff }: SimulatedNode, code: string): void {
  if (isCutOff && isRefusedKey(code)) statistics.expected('stream', code, 'expected_refusals')
  else if (isOutage?.() === true) statistics.expected('stream', code, 'outage_errors')
  else if (PASSING.has(code)) statistics.count('retries')
  else statistics.failed('stream', code)
}
