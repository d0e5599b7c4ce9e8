import type { SimulatedNode } from '../simulated-node.ts'

/** How much older the one is that arrives later. */
const REORDERED_MS = 1_000

/**
 * Makes a call once, or as the node's trouble will have it: twice at the same time, or a newer one and after it one that
 * says to be older. `call` is told by how many ms it is to say that it is older.
 */
export async function twice({ trouble }: SimulatedNode, call: (olderMs: number) => Promise<void>): Promise<void> {
  if (trouble.repeats === 'doubled') await Promise.all([call(0), call(0)])
  else await call(0)
  if (trouble.repeats === 'reordered') await call(REORDERED_MS)
}
