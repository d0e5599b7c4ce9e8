import { problem } from '../../../shared/problems.ts'
import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { CapacityLimits } from '../../ports/capacity-limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import type { OperationPlan } from '../operation-plan.ts'
import { IngestBucket } from './ingest-bucket.ts'

const DIMENSION = 'observability_ingest'

/** Domains that have a bucket of their own; one that is evicted gets a full one again. A bucket takes about 200 bytes. */
const DOMAINS_MAX = 16_384

export interface IngestLimitDeps {
  /** A target is divided by the number of replicas: each has its own buckets. Nothing is refused without. */
  readonly capacityLimits?: CapacityLimits | undefined
  /** Counts what was taken. */
  readonly usage?: UsageMeter | undefined
  readonly clock: Clock
}

/** Counts what nodes report, and refuses what is beyond the target of their Domain (S1 Capacity). */
export interface IngestLimit {
  /**
   * Takes a body of an operation that counts. What is refused is not counted: the server has not taken it.
   * @throws Problem `capacity_exceeded`
   */
  take(plan: OperationPlan, caller: Pick<Caller, 'domainId'>, bytes: number): void
}

/** Creates the limit of this replica. Synchronous, and a body of a known Domain allocates nothing. */
export function createIngestLimit({ capacityLimits, usage, clock }: IngestLimitDeps): IngestLimit {
  const buckets = createSecondChanceMap<IngestBucket>(DOMAINS_MAX)

  function bucketOf(domainId: string, nowMs: number): IngestBucket {
    const known = buckets.get(domainId)
    if (known !== undefined) return known
    const bucket = new IngestBucket(nowMs)
    buckets.set(domainId, bucket)
    return bucket
  }

  /** Bytes a second; 0: no bound. */
  function rateOf(domainId: string): number {
    if (capacityLimits === undefined) return 0
    return capacityLimits.targetOf(domainId, DIMENSION) / capacityLimits.liveReplicas()
  }

  return {
    take({ operation }, { domainId }, bytes) {
      const { ingest } = operation
      if (ingest === undefined || bytes === 0) return
      const rate = rateOf(domainId)
      if (rate > 0) {
        const nowMs = clock.now()
        const bucket = bucketOf(domainId, nowMs)
        if (ingest === 'refused') assertFits(bucket.take(bytes, rate, nowMs))
        else bucket.charge(bytes, rate, nowMs)
      }
      usage?.count(DIMENSION, domainId, bytes)
    },
  }
}

function assertFits(waitMs: number): void {
  if (waitMs === 0) return
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  throw problem('capacity_exceeded', { dimension: DIMENSION, retry_after_seconds: seconds })
}
