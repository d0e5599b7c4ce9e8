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
  /** The fault, without internal details. This member and the next ones are present only if `ok` is false. */
  readonly detail?: string
  /** When the failure was first seen, RFC 3339. */
  readonly since?: string
  readonly meanwhile?: string
}

export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'unhealthy'
  readonly probes: readonly ProbeResult[]
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

/** A fault, with a sentence that replaces the one of the probe if the consequences differ. */
type Fault = Pick<ProbeResult, 'meanwhile'> & { readonly detail: string }

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
