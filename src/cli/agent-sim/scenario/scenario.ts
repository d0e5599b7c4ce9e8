import type { Rates } from './rates.ts'

/** What happens to a fleet beside its everyday life, phase after phase. */
export interface Scenario {
  /** What agents do while no phase says otherwise. */
  readonly edges: number | undefined
  readonly executionFailures: number | undefined
  readonly rates: Partial<Rates>
  readonly phases: readonly Phase[]
}

export interface Phase {
  readonly name: string
  readonly durationMs: number
  readonly rates: Partial<Rates>
  readonly faults: readonly Fault[]
}

/** A fault with its parameters, by its name. Shares are of the fleet, from 0 to 1. */
export type Fault =
  | { readonly kind: 'clock_skew'; readonly share: number; readonly skewMs: number }
  | { readonly kind: 'reconnect_herd'; readonly share: number }
  | { readonly kind: 'revoked_nsk'; readonly nodes: number }
  | { readonly kind: 'duplicate_calls'; readonly share: number }
  | { readonly kind: 'reordered_calls'; readonly share: number }
  | { readonly kind: 'slow_reader'; readonly share: number; readonly delayMs: number }
  | { readonly kind: 'server_restart' }
  | { readonly kind: 'endpoint_storm'; readonly rate: number }

/** How long all phases take together, in ms. */
export function durationMsOf({ phases }: Scenario): number {
  return phases.reduce((sum, { durationMs }) => sum + durationMs, 0)
}
