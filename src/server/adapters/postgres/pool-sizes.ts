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

/** What the change feed takes from `worker`, where that has so many: a read that hangs leaves the other one. */
const FEED = { fromMax: 6, connections: 2 }

/**
 * Divides what S1 allows. The lanes are kept open, whatever the minimum says: a server that has no slot left for new
 * connections must not keep heartbeats out, nor what they are judged by.
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
