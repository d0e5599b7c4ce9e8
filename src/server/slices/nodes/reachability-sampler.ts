import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { takeSamples } from './samples-store.ts'

/** Time between two samples of reachability, ms. They are of its multiples since the epoch. */
export const SAMPLE_INTERVAL_MS = 300_000
/** How long samples are kept, ms. */
export const SAMPLES_KEPT_MS = 7 * 24 * 3_600_000

const LOOK_EVERY_MS = 5_000
/** How long after its instant a sample may be taken, ms: a job that waits for others, or for a new leader, is late. */
const LATE_MAX_MS = 30_000

/**
 * The job that counts the nodes of all Domains by state, once for each multiple of the interval. An instant that it misses, since no
 * process led or the datastore was away, has no sample: a later count would be of another time.
 */
export function createReachabilitySampler(clock: Clock): LeaderJob {
  let takenMs: number | undefined
  return {
    name: 'reachability-samples',
    everyMs: LOOK_EVERY_MS,
    async run(leading) {
      const nowMs = clock.now()
      const atMs = nowMs - (nowMs % SAMPLE_INTERVAL_MS)
      if (atMs === takenMs || nowMs - atMs > LATE_MAX_MS) return false
      await leading.transaction((tx) => takeSamples(tx, { at: new Date(atMs), nowMs }))
      takenMs = atMs
      return false
    },
  }
}

/** The job that deletes the samples that are too old. */
export function createSamplesSweeper(clock: Clock): LeaderJob {
  return createBatchDelete(clock, {
    name: 'old-reachability-samples',
    table: 'reachability_samples',
    key: 'ctid',
    endedAt: 'at',
    keptMs: SAMPLES_KEPT_MS,
    everyMs: 10 * 60_000,
    rowsMax: 2_000,
  })
}
