import { BootError } from '../../ports/boot-error.ts'

/** What a check found wrong: a sentence with the way out. */
export type Fault = string

/** What a check looked at. */
export interface Looked {
  /** How many of `what` were examined. */
  readonly count: number
  /** E.g. `rows`. */
  readonly what: string
  readonly faults: readonly Fault[]
}

/** Why a check was not made; that is no fault. */
export interface Skipped {
  readonly skipped: string
}

/** One thing that is to be true of a backup. */
export interface Check {
  /** A few words, e.g. `audit chains`. */
  readonly name: string
  run(): Promise<Looked | Skipped>
}

/** The result of a check. */
export interface CheckResult {
  readonly check: string
  readonly verdict: 'ok' | 'failed' | 'not checked'
  readonly count: number | null
  readonly what: string | null
  /** Whole ms. */
  readonly duration_ms: number
  /** Every fault; or why it was not checked. */
  readonly details: readonly string[]
}

/** Faults that are named; more are counted. */
const FAULTS_MAX = 20

/** Runs one check after another. A check that finds a fault does not end the others. @throws what a check throws */
export async function runChecks(checks: readonly Check[]): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const check of checks) {
    const startedAt = performance.now()
    results.push(resultOf(check.name, await check.run(), performance.now() - startedAt))
  }
  return results
}

/** The result of a check that was made while something else was done. */
export function resultOf(check: string, found: Looked | Skipped, ms: number): CheckResult {
  const duration = { duration_ms: Math.round(ms) }
  if ('skipped' in found)
    return { check, verdict: 'not checked', count: null, what: null, ...duration, details: [found.skipped] }
  const { count, what, faults } = found
  const more = faults.length > FAULTS_MAX ? [`and ${faults.length - FAULTS_MAX} more`] : []
  const details = [...faults.slice(0, FAULTS_MAX), ...more]
  return { check, verdict: faults.length === 0 ? 'ok' : 'failed', count, what, ...duration, details }
}

/** @throws BootError where a check failed */
export function assertPassed(results: readonly CheckResult[], subject: string): void {
  const failed = results.filter(({ verdict }) => verdict === 'failed').map(({ check }) => check)
  if (failed.length > 0) throw new BootError(1, `${subject} failed: ${failed.join(', ')}; the table names the way out.`)
}
