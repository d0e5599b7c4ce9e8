import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { checksumBytes } from './checksum-bytes.ts'

type Violation = Input<
  (typeof nodeObservations)['operations']['PostNodeIntegrityViolations']
>['body']['violations'][number]

/** A report of violations of one node. */
export interface ViolationReport {
  readonly nodeId: string
  readonly acceptedAtMs: number
  readonly violations: readonly Violation[]
}

/** One violation of one node, with all that a batch of reports says of it. */
export interface ReportedViolation {
  readonly nodeId: string
  readonly kind: Violation['kind']
  readonly artifact: string
  /** 64 hex digits; empty where the node did not say. */
  readonly observed: string
  /** What the last of the reports expects: 64 hex digits; empty where none of them says. */
  readonly expected: string
  readonly occurrences: number
  /** First and last instant by the clock of the node, in ms. */
  readonly detectedFromMs: number
  readonly detectedToMs: number
  readonly acceptedFromMs: number
  readonly acceptedToMs: number
}

/** Combines reports: one entry for each node, kind, artifact and observed checksum, in the order of their first reports. */
export function combineReports(reports: readonly ViolationReport[]): ReportedViolation[] {
  const combined = new Map<string, ReportedViolation>()
  for (const report of reports) {
    for (const violation of report.violations) {
      const next = reportedOf(report, violation)
      const key = JSON.stringify([next.nodeId, next.kind, next.artifact, next.observed])
      const known = combined.get(key)
      combined.set(key, known === undefined ? next : merged(known, next))
    }
  }
  return [...combined.values()]
}

function reportedOf({ nodeId, acceptedAtMs }: ViolationReport, violation: Violation): ReportedViolation {
  const { kind, artifact, expected_checksum, observed_checksum, detected_at } = violation
  const detectedMs = Date.parse(detected_at)
  return {
    nodeId,
    kind,
    artifact,
    observed: hexOf(observed_checksum),
    expected: hexOf(expected_checksum),
    occurrences: 1,
    detectedFromMs: detectedMs,
    detectedToMs: detectedMs,
    acceptedFromMs: acceptedAtMs,
    acceptedToMs: acceptedAtMs,
  }
}

function hexOf(checksum: string | undefined): string {
  return checksum === undefined ? '' : checksumBytes(checksum).toString('hex')
}

function merged(known: ReportedViolation, next: ReportedViolation): ReportedViolation {
  return {
    ...known,
    expected: next.expected === '' ? known.expected : next.expected,
    occurrences: known.occurrences + next.occurrences,
    detectedFromMs: Math.min(known.detectedFromMs, next.detectedFromMs),
    detectedToMs: Math.max(known.detectedToMs, next.detectedToMs),
    acceptedFromMs: Math.min(known.acceptedFromMs, next.acceptedFromMs),
    acceptedToMs: Math.max(known.acceptedToMs, next.acceptedToMs),
  }
}
