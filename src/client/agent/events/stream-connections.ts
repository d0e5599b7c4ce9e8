import type { FollowOptions } from '../../event-stream.ts'
import type { OpenAnswer } from '../../transport.ts'
import type { AgentDeps } from '../agent-deps.ts'
import { isRefusedKey } from '../calls/refused-key.ts'
import type { KeyedMember } from '../member.ts'

export interface ConnectionDeps extends Pick<AgentDeps, 'statistics'> {
  /** Whether the scenario expects an outage now. */
  readonly isOutage?: () => boolean
}

/** Counts the successive connections of one stream. */
export interface StreamConnections {
  /** Wraps `connect` and measures the time until the head of the answer. */
  timed(connect: FollowOptions['connect']): FollowOptions['connect']
  /** A connection was opened. */
  opened(): void
  /** A connection ended. `code`: the failure; undefined for a regular end. */
  ended(code: string | undefined): void
  isOpen(): boolean
  /** Breaks the open connection. Its end is not counted as an error. */
  cut(): void
}

/** Codes after which the agent reconnects: the server stops, is overloaded or unreachable. */
const RETRYABLE = new Set(['shutting_down', 'overloaded', 'unreachable'])

/** Makes the counter of a node's connections. */
export function createConnections(deps: ConnectionDeps, node: KeyedMember): StreamConnections {
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
    ended(code) {
      if (isOpen) statistics.count('streams', -1)
      isOpen = false
      answered = undefined
      if (code !== undefined && !isCut) countStreamFailure(deps, node, code)
      isCut = false
    },
    isOpen: () => isOpen,
    cut() {
      isCut = answered !== undefined
      answered?.body.destroy()
    },
  }
}

/** Counts a failed connection: as expected, during an outage, as a retry, or as an error. */
export function countStreamFailure(
  { statistics, isOutage }: ConnectionDeps,
  { isRevoked }: Pick<KeyedMember, 'isRevoked'>,
  code: string,
): void {
  if (isRevoked && isRefusedKey(code)) statistics.expected('stream', code, 'expected_refusals')
  else if (isOutage?.() === true) statistics.expected('stream', code, 'outage_errors')
  else if (RETRYABLE.has(code)) statistics.count('retries')
  else statistics.failed('stream', code)
}
