/** S0 States: derived from the last accepted heartbeat and the time; nothing moves back into `never_reported`. */
export type ReachabilityState = 'never_reported' | 'healthy' | 'stale' | 'unreachable'

/** What reachability follows from. Instants in ms. */
export interface ReportTimes {
  readonly createdAtMs: number
  /** Absent until the first accepted heartbeat. */
  readonly acceptedAtMs: number | undefined
  /** The heartbeat that ended the last outage, or the first one. */
  readonly healthySinceMs: number | undefined
}

export interface ReachabilityAt {
  readonly state: ReachabilityState
  readonly changedAtMs: number
}

/** Silence after which a node is stale, in ms (S0 Limits). */
export const STALE_AFTER_MS = 90_000
/** Silence after which a node is unreachable, in ms; counted from the same heartbeat. */
export const UNREACHABLE_AFTER_MS = 300_000

/** Ages of the last heartbeat that make each reported state: from inclusive, below exclusive. A heartbeat ahead of the clock is young. */
const AGES = [
  { state: 'healthy', fromMs: -Infinity, belowMs: STALE_AFTER_MS },
  { state: 'stale', fromMs: STALE_AFTER_MS, belowMs: UNREACHABLE_AFTER_MS },
  { state: 'unreachable', fromMs: UNREACHABLE_AFTER_MS, belowMs: Infinity },
] as const

/** Tells the state alone, which follows from the last accepted heartbeat, if any. */
export function stateAt(acceptedAtMs: number | undefined, nowMs: number): ReachabilityState {
  return acceptedAtMs === undefined ? 'never_reported' : ageOf(acceptedAtMs, nowMs).state
}

/** Tells a node's reachability at `nowMs`, and since when. */
export function reachabilityAt(times: ReportTimes, nowMs: number): ReachabilityAt {
  const { acceptedAtMs } = times
  if (acceptedAtMs === undefined) return { state: 'never_reported', changedAtMs: times.createdAtMs }
  const { state, fromMs } = ageOf(acceptedAtMs, nowMs)
  const changedAtMs = state === 'healthy' ? (times.healthySinceMs ?? acceptedAtMs) : acceptedAtMs + fromMs
  return { state, changedAtMs }
}

function ageOf(acceptedAtMs: number, nowMs: number): (typeof AGES)[number] {
  const ageMs = nowMs - acceptedAtMs
  return AGES.find(({ belowMs }) => ageMs < belowMs) ?? AGES[2]
}

/** Bounds of the last heartbeat of a node in that state; an absent bound is open. */
export interface AcceptedWindow {
  /** Exclusive, ms. */
  readonly afterMs: number | undefined
  /** Inclusive, ms. */
  readonly untilMs: number | undefined
}

/** The same rule turned round for queries; `never` where the state means that there was no heartbeat. */
export function acceptedWindow(state: ReachabilityState, nowMs: number): AcceptedWindow | 'never' {
  const ages = AGES.find((row) => row.state === state)
  if (ages === undefined) return 'never'
  const { fromMs, belowMs } = ages
  return {
    afterMs: Number.isFinite(belowMs) ? nowMs - belowMs : undefined,
    untilMs: Number.isFinite(fromMs) ? nowMs - fromMs : undefined,
  }
}
