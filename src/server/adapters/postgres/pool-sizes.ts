import type { Pool, SizedPool } from '../../ports/datastore.ts'
import type { PoolSize } from './pool.ts'

/** S1 Limits: 35 connections a replica; none kept open when idle. */
const SIZES: Readonly<Record<SizedPool, PoolSize>> = {
  interactive: { min: 0, max: 20 },
  worker: { min: 0, max: 10 },
  bulk: { min: 0, max: 5 },
}

/** How many connections each of the two lanes of nodes takes from `interactive`, by what that has: always less than half. */
const LANES: readonly { readonly fromMax: number; readonly connections: number }[] = [
  { fromMax: 8, connections: 2 },
  { fromMax: 5, connections: 1 },
  { fromMax: 1, connections: 0 },
]

/**
 * Divides what S1 allows. The lanes are kept open, whatever the minimum says: a server that has no slot left for new
 * connections must not keep heartbeats out. A lane without connections of its own shares those of `interactive`.
 */
export function poolSizes(asked: Partial<Record<SizedPool, PoolSize>> = {}): Readonly<Record<Pool, PoolSize>> {
  const { interactive, worker, bulk } = { ...SIZES, ...asked }
  const connections = LANES.find(({ fromMax }) => interactive.max >= fromMax)?.connections ?? 0
  const lane = { min: connections, max: connections }
  return {
    interactive: { min: Math.max(0, interactive.min - 2 * connections), max: interactive.max - 2 * connections },
    heartbeats: lane,
    'node-keys': lane,
    worker,
    bulk,
  }
}
