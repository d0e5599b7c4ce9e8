import type { StreamEnd } from '../../../shared/contract/operation.ts'
import { Problem } from '../../../shared/problems.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'

/** Why a stream ended. `refused`: its reader lost the right to it; `unconfirmed`: that could not be checked for too long. */
export type EndReason = Exclude<StreamEnd, 'operation'> | 'refused' | 'unconfirmed' | 'failed'

/** Counts for the metrics. */
export interface StreamMeter {
  opened(): void
  frame(): void
  ended(reason: EndReason): void
  rejected(code: string): void
}

/** Makes what counts a frame that was sent, for the metrics and for the Domain that it belongs to. */
export function frameCounter(meter: StreamMeter, usage: UsageMeter): (domainId: string) => void {
  return (domainId) => {
    meter.frame()
    usage.count('sse_fanout', domainId, 1)
  }
}

/** Resolves with what opens, and counts a refusal. */
export async function countingRefusals<T>(meter: StreamMeter, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    if (error instanceof Problem) meter.rejected(error.code)
    throw error
  }
}
