import type { SimulatedNode } from '../simulated-node.ts'

/** How much older the one is that arrives later. */
const REORDERED_MS = 1_000

/**
 * Makes a call once. With an injected fault it is made twice at the same time, or a second time with an older timestamp.
 * `call` gets by how many ms its timestamp is older.
 */
export async function injectDuplicates(
  { faults }: SimulatedNode,
  call: (olderMs: number) => Promise<void>,
): Promise<void> {
  if (faults.repeats === 'doubled') await Promise.all([call(0), call(0)])
  else await call(0)
  if (faults.repeats === 'reordered') await call(REORDERED_MS)
}
