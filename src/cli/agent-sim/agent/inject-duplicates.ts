import type { FleetNode } from '../simulated-node.ts'

/** Age difference of the second call's timestamp. */
const REORDERED_MS = 1_000

/**
 * Makes a call once, or with an injected fault twice: both at the same time, or the second one with an older timestamp.
 * `call` gets the age of its timestamp, in ms.
 */
export async function injectDuplicates({ faults }: FleetNode, call: (olderMs: number) => Promise<void>): Promise<void> {
  if (faults.repeats === 'doubled') await Promise.all([call(0), call(0)])
  else await call(0)
  if (faults.repeats === 'reordered') await call(REORDERED_MS)
}
