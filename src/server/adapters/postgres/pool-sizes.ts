import type { Pool, SizedPool } from '../../ports/datastore.ts'
import type { PoolSize } from './pool.ts'

/** S1 Limits: 35 connections a replica; none kept open when idle. */
const SIZES: Readonly<Record<SizedPool, PoolSize>> = {
  interactive: { min: 0, max: 20 },
  worker: { min: 0, max: 10 },
  bulk: { min: 0, max: 5 },
}

/**
 * Connections that `heartbeats` and `node-keys` each take from `interactive`, by the size of that pool: together at
 * most half.
 */
const LANES: readonly { readonly fromMax: number; readonly connections: number }[] = [
  { fromMax: 8, connections: 2 },
  { fromMax: 5, connections: 1 },
  { fromMax: 1, connections: 0 },
]

/**
 * Connections that the change feed takes from `worker` if that pool is large enough. With two, a read that hangs does
 * not block the next one.
 */
const FEED = { fromMax: 6, connections: 2 }

/**
 * Divides the connections that S1 allows. The pools of nodes and of the change feed keep all connections open, whatever
 * the configured minimum is: heartbeats must work even if the server has no free slot for a new connection.
 */
export function poolSizes(asked: Partial<Record<SizedPool, PoolSize>> = {}): Readonly<Record<Pool, PoolSize>> {
  const { interactive, worker, bulk } = { ...SIZES, ...asked }
  const lane = LANES.find(({ fromMax }) => interactive.max >= fromMax)?.connections ?? 0
  const feed = worker.max >= FEED.fromMax ? FEED.connections : 0
  return {
    interactive: without(interactive, 2 * lane),
    heartbeats: { min: lane, max: lane },
    'node-keys': { min: lane, max: lane },
    'change-feed': { min: feed, max: feed },
    worker: without(worker, feed),
    bulk,
  }
}

function without({ min, max }: PoolSize, connections: number): PoolSize {
  return { min: Math.max(0, min - connections), max: max - connections }
}
