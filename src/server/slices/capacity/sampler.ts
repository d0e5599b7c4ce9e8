import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { DomainMonitor, Found } from './domain-monitor.ts'
import type { HeldCrossings } from './held-crossings.ts'
import { readGrowth } from './history-store.ts'
import type { KnownLimits } from './known-limits.ts'
import type { PendingUsage } from './pending-usage.ts'
import { addToTotals, announceReplica, forgetReplica, readLevels, readTargets, readTotals } from './samples-store.ts'

export interface SamplerDeps {
  readonly datastore: Datastore
  readonly usage: PendingUsage
  readonly capacityLimits: KnownLimits
  readonly capacityMonitor: DomainMonitor
  readonly crossings: HeldCrossings
  readonly clock: Clock
  readonly ids: IdSource
  /** Time on a clock that nobody sets. */
  readonly elapsedMs: () => number
  readonly intervalMs: number
}

/** The steps of a sample. Each fails by itself. */
export interface Sampler {
  /** Adds what this process has counted to the shared totals. What could not be added is left for the next time. */
  flush(): Promise<void>
  /** Announces this replica, and counts those that live. */
  countReplicas(): Promise<void>
  /** Reads the use of every Domain. Without a flush before it the rates stay as they are. */
  read(hasFlushed: boolean): Promise<void>
  /** Reads the growth of levels from the history, once an hour. */
  readGrowth(): Promise<void>
  /** Ends the life of this replica. */
  leave(): Promise<void>
}

/** How often the growth of levels is read from the history. */
const GROWTH_EVERY_MS = 3_600_000
/** For how many intervals a replica lives that does not announce itself. */
const LIVES_INTERVALS = 3

export function createSampler(deps: SamplerDeps): Sampler {
  const { datastore, usage, capacityLimits, capacityMonitor, crossings, clock, elapsedMs, intervalMs } = deps
  const db = () => datastore.pool('worker')
  // The only process of an embedded datastore has nobody to announce itself to.
  const isAlone = datastore.kind === 'embedded'
  const id = deps.ids.next()
  let grewAtMs: number | undefined

  return {
    async flush() {
      const deltas = usage.pending()
      if (deltas.length === 0) return
      await addToTotals(db(), deltas)
      usage.written(deltas)
    },
    async countReplicas() {
      if (!isAlone) capacityLimits.counted(await announceReplica(db(), { id, livesMs: LIVES_INTERVALS * intervalMs }))
    },
    async read(hasFlushed) {
      const { domainIds, totals } = await readTotals(db())
      // What the statement waited for lies before its snapshot: the time after it is the nearer one.
      const at = { nowMs: clock.now(), elapsedMs: elapsedMs() }
      const levels = await readLevels(db(), new Date(at.nowMs))
      capacityLimits.found(await readTargets(db()))
      const found: Found = {
        domainIds,
        levels,
        totals: hasFlushed ? totals : undefined,
        targetOf: (domainId, dimension) => capacityLimits.targetOf(domainId, dimension),
      }
      crossings.sampled(capacityMonitor.observe(found, at), at)
    },
    async readGrowth() {
      if (grewAtMs !== undefined && elapsedMs() - grewAtMs < GROWTH_EVERY_MS) return
      capacityMonitor.grown(await readGrowth(db(), clock.now()))
      grewAtMs = elapsedMs()
    },
    async leave() {
      if (!isAlone) await forgetReplica(db(), id)
    },
  }
}
