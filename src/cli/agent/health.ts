import type { AgentStatistics } from '../../client/agent/agent-deps.ts'
import { OUTAGE } from '../../client/agent/calls/attempt.ts'
import type { AgentCount } from '../../client/agent/counts.ts'
import type { Attempt } from '../../client/client.ts'
import type { Log } from './log.ts'
import { createPacedLines } from './paced-lines.ts'

/** How the agent and the server get along. */
export interface HealthReport {
  /** Undefined before the first call has ended. */
  readonly isServerReachable: boolean | undefined
  /** Since when that is so. */
  readonly sinceMs: number
  /** How far the clock of this machine is ahead of the server's; undefined before the first answer. */
  readonly clockSkewMs: number | undefined
  readonly counts: Readonly<Record<string, number>>
}

/** Follows the calls of an agent, and logs what an operator has to know. */
export interface Health extends AgentStatistics {
  /** Reads the time of an answer. */
  observe(attempt: Attempt): void
  report(): HealthReport
}

/** What is logged when it is counted. */
const LOGGED: Partial<Record<AgentCount, string>> = {
  bad_snapshots: 'a state of the server is malformed and was refused',
  bad_signatures: 'an event is not signed by the server and was dropped',
  refused_frames: 'an event is not for this node and was dropped',
  bad_policies: 'a policy does not have its fingerprint and was left as it was',
  unknown_entries:
    'policies have entries that this version does not understand, which restrict the node; upgrade the agent',
  bad_envelopes: 'a key of an edge does not open and was dropped',
  epoch_regressions: 'a key of an edge is older than the one in force and was refused',
  undone_rotations:
    'the server does not know the last key rotation, as after a restore from a backup; request it again: ctl nodes rotate',
  bad_bridge_configs: 'a configuration of a bridge was refused',
}

/** The server refuses heartbeats of clocks that are off by more. */
const SKEW_MS_MAX = 60_000
/** The `Date` header has whole seconds. */
const SKEW_LOGGED_MS = 5_000

/** Makes the health of an agent that has made no call yet. */
export function createHealth(log: Log, now: () => number): Health {
  let isServerReachable: boolean | undefined
  let sinceMs = now()
  let clockSkewMs: number | undefined
  const counts: Record<string, number> = {}
  const paced = createPacedLines((text) => log.line(text), now)

  function reachable(is: boolean, why: string): void {
    if (is === isServerReachable) return
    if (!is) log.line(`server: ${why}; the tunnels stay up`)
    else if (isServerReachable === false) log.line('server: reached again')
    isServerReachable = is
    sinceMs = now()
  }

  function noteSkew(skewMs: number): void {
    const isWorse = Math.abs(skewMs - (clockSkewMs ?? 0)) >= SKEW_LOGGED_MS
    clockSkewMs = skewMs
    if (!isWorse) return
    const effect = Math.abs(skewMs) > SKEW_MS_MAX ? '; the server refuses its heartbeats: run NTP' : ''
    log.line(`clock: ${Math.round(skewMs / 1000)} s ahead of the server${effect}`)
  }

  return {
    succeeded: () => reachable(true, ''),
    failed(operation, code) {
      if (OUTAGE.has(code) || code === 'untrusted') return reachable(false, `${operation} got no answer (${code})`)
      reachable(true, '')
      return paced(`${operation}: the server refuses it (${code})`)
    },
    expected: () => undefined,
    count(name, by = 1) {
      if (by === 0) return
      counts[name] = (counts[name] ?? 0) + by
      const text = LOGGED[name]
      if (text !== undefined) paced(text)
    },
    observe({ answer, durationMs }) {
      const date = Date.parse(answer?.headers['date'] ?? '')
      // The answer is as old as half of the call on average, and its date is rounded down to a second.
      if (!Number.isNaN(date)) noteSkew(now() - durationMs / 2 - (date + 500))
    },
    report: () => ({ isServerReachable, sinceMs, clockSkewMs, counts: { ...counts } }),
  }
}
