import type { Clock } from '../ports/clock.ts'
import { DatastoreError, DatastoreStopped } from '../ports/datastore.ts'
import { SecretStoreError, type SecretStoreFault } from '../ports/secret-store.ts'

/** A dependency whose state readiness reports. */
export interface Probe {
  /** The name of S1 Degradation 1, such as `db-primary`. */
  readonly name: string
  /** One sentence for everyone: what works without the dependency, and what does not. */
  readonly meanwhile: string
  /** Whether a failure is permanent: it then makes the server unhealthy at any time. */
  readonly isFinal?: true
  /** Resolves when the dependency answers; rejects otherwise, after `deadlineMs` at the latest. */
  check(deadlineMs: number): Promise<void>
}

export interface ProbeResult {
  readonly name: string
  readonly ok: boolean
  /** The probe has succeeded since boot: its failure makes the server degraded, not unhealthy. */
  readonly informational?: true
  /** The fault, without internal details. Present only if `ok` is false. */
  readonly detail?: string
  /** When the probe first succeeded or failed in this way, RFC 3339. */
  readonly since: string
  readonly meanwhile: string
}

/** A dependency that no probe asks (S1 Degradation 1: the signing service). It is known from the calls that were made. */
export interface Unprobed {
  readonly name: string
  /** As of a probe. */
  readonly meanwhile: string
  /** Undefined before the first call has ended. */
  readonly lastCall: () => LastCall | undefined
}

export interface LastCall {
  readonly since: Date
  /** The fault, for everyone; undefined where the call succeeded. */
  readonly fault: string | undefined
}

export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'unhealthy'
  readonly probes: readonly ProbeResult[]
  /** Dependencies without a probe. They have no part in the status. Absent where there are none. */
  readonly unprobed?: readonly ProbeResult[]
}

export interface Health {
  /** Runs every probe, at most once a second. */
  report(): Promise<HealthReport>
  /** Runs the probes every few seconds, so that the start of an outage is known even without requests. */
  follow(): void
  /** Makes the server unhealthy from now on: it is stopping. */
  drain(): void
}

const DEADLINE_MS = 2_000
const KEEP_MS = 1_000
const FOLLOW_EVERY_MS = 5_000

/**
 * Readiness over boot-latched probes (S1 Degradation 1): each must succeed once before the server is ready; a later
 * failure is informational and only degrades it, unless the probe is final.
 */
export function createHealth(probes: readonly Probe[], clock: Clock, unprobed: readonly Unprobed[] = []): Health {
  const latched = new Set<string>()
  const changed = new Map<string, { readonly ok: boolean; readonly since: string }>()
  let isDraining = false
  let following: NodeJS.Timeout | undefined
  let kept: { readonly at: number; readonly report: Promise<HealthReport> } | undefined

  /** Since when the probe has ended as it did now. */
  function sinceOf(name: string, ok: boolean, askedAt: string): string {
    const last = changed.get(name)
    if (last?.ok === ok) return last.since
    changed.set(name, { ok, since: askedAt })
    return askedAt
  }

  async function ask(probe: Probe): Promise<ProbeResult> {
    const { name, meanwhile } = probe
    const askedAt = new Date(clock.now()).toISOString()
    const fault = await withDeadline(probe)
    const result = { name, ok: fault === undefined, since: sinceOf(name, fault === undefined, askedAt), meanwhile }
    if (fault === undefined) {
      latched.add(name)
      return result
    }
    const failed = { ...result, ...fault }
    return latched.has(name) && probe.isFinal !== true ? { ...failed, informational: true } : failed
  }

  async function askAll(): Promise<HealthReport> {
    const results = await Promise.all(probes.map(ask))
    const others = unprobed.flatMap(lastCallOf)
    return { status: statusOf(results), probes: results, ...(others.length > 0 && { unprobed: others }) }
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

function lastCallOf({ name, meanwhile, lastCall }: Unprobed): readonly ProbeResult[] {
  const last = lastCall()
  if (last === undefined) return []
  const { since, fault } = last
  const result = { name, ok: fault === undefined, since: since.toISOString(), meanwhile }
  return [fault === undefined ? result : { ...result, informational: true, detail: fault }]
}

/** The HTTP status of a report. */
export function httpStatusOf({ status }: HealthReport): 200 | 503 {
  return status === 'unhealthy' ? 503 : 200
}

function statusOf(results: readonly ProbeResult[]): HealthReport['status'] {
  if (results.every(({ ok }) => ok)) return 'ready'
  return results.every(({ ok, informational }) => ok || informational) ? 'degraded' : 'unhealthy'
}

/** A fault, with a sentence that replaces the one of the probe if the consequences differ. */
type Fault = Partial<Pick<ProbeResult, 'meanwhile'>> & { readonly detail: string }

const NO_ANSWER: Fault = { detail: 'it does not answer' }
const STOPPED: Fault = { detail: 'it stopped for good: restart the server' }
const READ_ONLY: Fault = {
  detail: 'it is read-only: it takes no writes',
  meanwhile: 'Reads and checks work. Whatever changes something fails, heartbeats and sign-ins too.',
}

/** Faults of the secret store that its operator has to end; the others end by themselves. */
const OF_SECRET_STORE: Readonly<Partial<Record<SecretStoreFault, Fault>>> = {
  sealed: { detail: 'it is sealed: unseal it' },
  full: { detail: 'it has no space left' },
  refused: { detail: 'it does not accept the login of this server' },
  broken: { detail: 'it does not answer as a KV engine of version 2 does: look at its URL and mount' },
}

/** The fault that everyone may see; the cause belongs into the log. */
function faultOf(error: unknown): Fault {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  if (cause instanceof SecretStoreError) return OF_SECRET_STORE[cause.fault] ?? NO_ANSWER
  if (error instanceof DatastoreStopped) return STOPPED
  return error instanceof DatastoreError && error.failure === 'readonly' ? READ_ONLY : NO_ANSWER
}

/** The fault of a probe; undefined if there is none. A probe that exceeds its deadline counts as failed. */
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
