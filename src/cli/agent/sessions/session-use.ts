import type { SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import { ACTIVITY_OF, UNSEEN, type Activity, type SeenRequest } from './session-activity.ts'
import type { Relay, RelayedBytes } from './relay.ts'

/** A session that has connections, or had one that was not reported yet. */
export interface SessionUse {
  readonly session: SessionSetupPayload
  /** Those that are being made included. */
  readonly connections: () => number
  /** Counts a connection that is being made, until the returned function is called with it, or with undefined where it failed. */
  begin(): (relay: Relay | undefined) => void
  /** Notes the newest request. */
  saw(request: SeenRequest): void
  /** Cuts every connection. */
  cut(): void
  /** Looks at the bytes that passed. Returns what there is to do now. */
  look(nowMs: number): Look
  /** A report begins: what it says. `settled` is called with whether the server took it. */
  report(nowMs: number): { readonly activity: Activity; readonly settled: (isTaken: boolean) => void }
}

/** `idle`: no byte has passed for the idle timeout; `report`: the server is to be informed; `done`: nothing is left. */
export type Look = 'idle' | 'report' | 'done' | 'wait'

const REPORT_EVERY_MS = 5_000
/** A report is due at least so many times in an idle timeout (agent protocol, Mediated sessions). */
const REPORTS_PER_IDLE = 3
const REPORT_MS_MIN = 300

/** Follows the use of a session. */
export function createSessionUse(session: SessionSetupPayload, startMs: number): SessionUse {
  const idleMs = session.idle_timeout_seconds === undefined ? Infinity : session.idle_timeout_seconds * 1000
  const everyMs = Math.max(REPORT_MS_MIN, Math.min(REPORT_EVERY_MS, idleMs / REPORTS_PER_IDLE))
  const relays = new Set<Relay>()
  let opening = 0
  let ended: RelayedBytes = NONE
  let [reported, seen] = [NONE, NONE]
  let request = UNSEEN
  let [usedMs, reportedMs] = [startMs, -Infinity]
  // Touched: a connection came or went since the last look. Due: there is something to report.
  let [isTouched, isDue, isReporting] = [false, false, false]

  const total = (): RelayedBytes => [...relays].map((one) => one.bytes()).reduce(sum, ended)

  function notice(nowMs: number): void {
    const now = total()
    if (!isTouched && now.in === seen.in && now.out === seen.out) return
    ;[seen, usedMs, isTouched, isDue] = [now, nowMs, false, true]
  }

  function add(one: Relay): void {
    relays.add(one)
    isTouched = true
    void one.closed.then(() => {
      relays.delete(one)
      ended = sum(ended, one.bytes())
      isTouched = true
    })
  }

  return {
    session,
    connections: () => relays.size + opening,
    begin() {
      opening += 1
      return (one) => {
        opening -= 1
        if (one !== undefined) add(one)
      }
    },
    saw(newest) {
      request = newest
    },
    cut: () => relays.forEach((one) => one.cut()),
    look(nowMs) {
      notice(nowMs)
      if (relays.size > 0 && nowMs - usedMs >= idleMs) return 'idle'
      if (isDue && !isReporting && nowMs - reportedMs >= everyMs) return 'report'
      return relays.size + opening === 0 && !isDue && !isReporting ? 'done' : 'wait'
    },
    report(nowMs) {
      const now = total()
      ;[isReporting, isDue, reportedMs] = [true, false, nowMs]
      return {
        activity: ACTIVITY_OF[session.kind]({ isOpen: relays.size > 0, bytes: difference(now, reported), request }),
        settled(isTaken) {
          isReporting = false
          if (isTaken) reported = now
          else isDue = true
        },
      }
    },
  }
}

const NONE: RelayedBytes = { in: 0, out: 0 }

function sum(one: RelayedBytes, other: RelayedBytes): RelayedBytes {
  return { in: one.in + other.in, out: one.out + other.out }
}

/** Bytes that were counted and then lost, because the connection was cut before they were sent, count as none. */
function difference(one: RelayedBytes, other: RelayedBytes): RelayedBytes {
  return { in: Math.max(0, one.in - other.in), out: Math.max(0, one.out - other.out) }
}
