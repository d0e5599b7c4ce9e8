import type { Clock } from '../ports/clock.ts'
import { DatastoreError, DatastoreStopped } from '../ports/datastore.ts'

/** A dependency whose state readiness reports. */
export interface Probe {
  /** As S1 Degradation 1 names it, e.g. `db-primary`. */
  readonly name: string
  /** What works without it and what does not: one sentence for anyone who asks. */
  readonly meanwhile: string
  /** Whether it never comes back once it has failed: its failure takes the server out of rotation, whenever it comes. */
  readonly isFinal?: true
  /** Resolves when the dependency answers; rejects otherwise, after `deadlineMs` at the latest. */
  check(deadlineMs: number): Promise<void>
}

export interface ProbeResult {
  readonly name: string
  readonly ok: boolean
  /** The probe has succeeded since boot: its failure degrades the server and does not take it out of rotation. */
  readonly informational?: true
  /** What is wrong, in words that anybody may read; this and what follows are present exactly when it is not ok. */
  readonly detail?: string
  /** RFC 3339: when it was first seen not to be ok. */
  readonly since?: string
  readonly meanwhile?: string
}

export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'unhealthy'
  readonly probes: readonly ProbeResult[]
}

export interface Health {
  /** Asks every probe, at most once a second however often it is called. */
  report(): Promise<HealthReport>
  /** Asks by itself every few seconds, so that an outage is dated although nobody asks. */
  follow(): void
  /** From now on unhealthy: the server is going away. */
  drain(): void
}

const DEADLINE_MS = 2_000
const KEEP_MS = 1_000
const FOLLOW_EVERY_MS = 5_000

/**
 * Readiness over boot-latched probes (S1 Degradation 1): each must succeed once before the server is ready; a later
 * failure is informational and only degrades it, unless the probe is final.
 */
export function createHealth(probes: readonly Probe[], clock: Clock): Health {
  const latched = new Set<string>()
  const awaySince = new Map<string, string>()
  let isDraining = false
  let following: NodeJS.Timeout | undefined
  let kept: { readonly at: number; readonly report: Promise<HealthReport> } | undefined

  async function ask(probe: Probe): Promise<ProbeResult> {
    const { name, meanwhile } = probe
    const askedAt = new Date(clock.now()).toISOString()
    const fault = await withDeadline(probe)
    if (fault === undefined) {
      latched.add(name)
      awaySince.delete(name)
      return { name, ok: true }
    }
    const since = awaySince.get(name) ?? askedAt
    awaySince.set(name, since)
    const failed = { name, ok: false, since, meanwhile, ...fault }
    return latched.has(name) && probe.isFinal !== true ? { ...failed, informational: true } : failed
  }

  async function askAll(): Promise<HealthReport> {
    const results = await Promise.all(probes.map(ask))
    return { status: statusOf(results), probes: results }
  }

  async function report(): Promise<HealthReport> {
    const at = clock.now()
    if (kept === undefined || at - kept.at >= KEEP_MS) kept = { at, report: askAll() }
    const latest = await kept.report
    return isDraining ? { ...latest, status: 'unhealthy' } : latest
  }

  return {
    report,
    follow() {
      following ??= setInterval(() => void report(), FOLLOW_EVERY_MS).unref()
    },
    drain() {
      isDraining = true
      clearInterval(following)
    },
  }
}

/** The HTTP status of a report. */
export function httpStatusOf({ status }: HealthReport): 200 | 503 {
  return status === 'unhealthy' ? 503 : 200
}

function statusOf(results: readonly ProbeResult[]): HealthReport['status'] {
  if (results.every(({ ok }) => ok)) return 'ready'
  return results.every(({ ok, informational }) => ok || informational) ? 'degraded' : 'unhealthy'
}

/** What is wrong, and what that means where it is not what the dependency's absence means. */
type Fault = Pick<ProbeResult, 'meanwhile'> & { readonly detail: string }

const NO_ANSWER: Fault = { detail: 'it does not answer' }
const STOPPED: Fault = { detail: 'it stopped for good: restart the server' }
const READ_ONLY: Fault = {
  detail: 'it is read-only: it takes no writes',
  meanwhile: 'Reads and checks work. Whatever changes something fails, heartbeats and sign-ins too.',
}

/** The cause is for the log: this is shown to anyone who asks. */
function faultOf(error: unknown): Fault {
  if (error instanceof DatastoreStopped) return STOPPED
  return error instanceof DatastoreError && error.failure === 'readonly' ? READ_ONLY : NO_ANSWER
}

/** What is wrong, undefined when nothing is. A probe that forgets its deadline is answered for. */
async function withDeadline(probe: Probe): Promise<Fault | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Fault>((resolve) => {
    timer = setTimeout(resolve, DEADLINE_MS + 500, NO_ANSWER)
  })
  const answer = probe.check(DEADLINE_MS).then(() => undefined, faultOf)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
