import type { StartBinaries } from '../binary.ts'
import type { Rates } from './rates.ts'

/** The phases and faults of a run. */
export interface Scenario {
  readonly edges: number | undefined
  readonly executionFailures: number | undefined
  readonly upgradeFailures: number | undefined
  readonly wrongChecksums: number | undefined
  readonly binaries: Partial<StartBinaries>
  /** Rates outside of phases, and of phases that set none. */
  readonly rates: Partial<Rates>
  readonly phases: readonly Phase[]
}

export interface Phase {
  readonly name: string
  readonly durationMs: number
  readonly rates: Partial<Rates>
  readonly faults: readonly Fault[]
}

/** A fault with its parameters. Shares are parts of the fleet, from 0 to 1. */
export type Fault =
  | { readonly kind: 'clock_skew'; readonly share: number; readonly skewMs: number }
  | { readonly kind: 'reconnect_herd'; readonly share: number }
  | { readonly kind: 'revoked_nsk'; readonly nodes: number }
  | { readonly kind: 'duplicate_calls'; readonly share: number }
  | { readonly kind: 'reordered_calls'; readonly share: number }
  | { readonly kind: 'slow_reader'; readonly share: number; readonly delayMs: number }
  | { readonly kind: 'server_restart' }
  | { readonly kind: 'endpoint_storm'; readonly rate: number }
  | { readonly kind: 'bridge_failures'; readonly share: number }
  | { readonly kind: 'host_restarts'; readonly share: number }

/** Duration of all phases, in ms. */
export function durationMsOf({ phases }: Scenario): number {
  return phases.reduce((sum, { durationMs }) => sum + durationMs, 0)
}
