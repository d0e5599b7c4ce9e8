import type { IdSource } from '../../ports/clock.ts'
import type { Crossing, SampleTime } from './domain-monitor.ts'

/** A crossing that has no audit row yet, as far as this process knows. */
export interface HeldCrossing extends Crossing {
  /** Of its audit row: it shows whether an earlier attempt succeeded after all. */
  readonly correlationId: string
  readonly detected: SampleTime
  /** Whether this process has tried to record it, and so was the leader. */
  isTried: boolean
  /** Whether it waits for the next sample after an attempt that failed. */
  isWaiting: boolean
  /** Whether its event was emitted. The audit row may have been refused all the same. */
  isAnnounced: boolean
}

/**
 * Crossings that this replica has detected and not settled. A leader records them. Another replica keeps them for the case that the
 * leader ends before it recorded its own: the successor then records them.
 */
export interface HeldCrossings {
  /** Takes what a sample found, and forgets what another replica has recorded by now. */
  sampled(crossings: readonly Crossing[], at: SampleTime): void
  /** Those that can be tried now. */
  due(): readonly HeldCrossing[]
  settled(crossing: HeldCrossing): void
  /** Counts an attempt that failed; the crossing is due again with the next sample. */
  failed(crossing: HeldCrossing): void
  /** Its event was emitted: attempts from now on write the audit row alone. */
  announced(crossing: HeldCrossing): void
  failures(): number
}

/** How long a replica that does not lead keeps a crossing: longer than a change of leaders takes. */
const KEPT_MS = 10 * 60_000
const NEW = { isTried: false, isWaiting: false, isAnnounced: false } as const

/** More crossings are dropped, the oldest first: a datastore that refuses them for days must not fill the memory. */
const HELD_MAX = 10_000

export function createHeldCrossings({
  ids,
  intervalMs,
}: {
  readonly ids: IdSource
  readonly intervalMs: number
}): HeldCrossings {
  let held: HeldCrossing[] = []
  let failures = 0

  /** What was over the threshold at the start of this process belongs to a leader that was there by then. */
  function isKept({ isTried, isFirst, detected }: HeldCrossing, atMs: number): boolean {
    return isTried || atMs - detected.elapsedMs <= (isFirst ? 2 * intervalMs : KEPT_MS)
  }

  return {
    sampled(crossings, at) {
      held = held.filter((one) => isKept(one, at.elapsedMs))
      for (const one of held) one.isWaiting = false
      for (const crossing of crossings) held.push({ ...crossing, correlationId: ids.next(), detected: at, ...NEW })
      if (held.length > HELD_MAX) held = held.slice(-HELD_MAX)
    },
    due: () => held.filter(({ isWaiting }) => !isWaiting),
    settled(crossing) {
      held = held.filter((one) => one !== crossing)
    },
    failed(crossing) {
      failures += 1
      crossing.isTried = true
      crossing.isWaiting = true
    },
    announced(crossing) {
      crossing.isAnnounced = true
    },
    failures: () => failures,
  }
}
