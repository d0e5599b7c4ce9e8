import type { StreamEnd } from '../../../shared/contract/operation.ts'

/** Why a stream ended. `refused`: its reader lost the right to it; `unconfirmed`: that could not be checked for too long. */
export type EndReason = Exclude<StreamEnd, 'operation'> | 'refused' | 'unconfirmed' | 'failed'

/** Counts for the metrics. */
export interface StreamMeter {
  opened(): void
  frame(): void
  ended(reason: EndReason): void
  rejected(code: string): void
}
