import { mounted } from '../../../src/server/http/request-context.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import { createCollector, type Collector } from '../../../src/server/slices/capacity/collector.ts'
import { createCrossingRecorder } from '../../../src/server/slices/capacity/crossing-recorder.ts'
import { createHistoryWriter } from '../../../src/server/slices/capacity/history-writer.ts'
import { createCapacityParts, type CapacityParts } from '../../../src/server/slices/capacity/parts.ts'
import { createCapacity } from '../../../src/server/slices/capacity/service.ts'
import { capacity } from '../../../src/shared/contract/capacity.ts'
import type { CapacityDimension } from '../../../src/shared/capacity/dimensions.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startTenancy, type Tenancy } from './tenancy.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'

export const INTERVAL_MS = 15_000

/** What one replica knows of the capacity of Domains, and what it does about it. */
export interface CapacityReplica extends CapacityParts {
  readonly collector: Collector
  /** Failures that it has reported. */
  readonly reported: unknown[]
  /** Whether the datastore takes nothing that it writes. */
  isReadOnly: boolean
  /** Does what the leader does after a sample. */
  lead(leading?: Leading): Promise<void>
  /** What it knows of one dimension. */
  use(domainId: string, dimension: CapacityDimension): ReturnType<typeof useOf>
}

/** Two replicas over one datastore, which sample when they are asked to. The first one answers calls. */
export interface CapacityReplicas extends Tenancy {
  readonly replicas: readonly [CapacityReplica, CapacityReplica]
  /** Time on the clock that nobody sets. */
  readonly elapsed: { ms: number }
  /** Moves both clocks on by an interval, or as long, and samples on every replica. */
  round(ms?: number): Promise<void>
  /** Starts another replica. */
  replica(): CapacityReplica
}

export async function startCapacityReplicas(store: TestStore): Promise<CapacityReplicas> {
  const elapsed = { ms: 0 }
  const made: CapacityReplica[] = []
  const make = (backend: Backend): CapacityReplica => {
    const replica = createReplica(backend, () => elapsed.ms)
    made.push(replica)
    return replica
  }
  const tenancy = await startTenancy(store, (backend) => {
    const { collector, capacityMonitor } = make(backend)
    const deps = { ...backend, capacityMonitor, intervalMs: INTERVAL_MS, nextInMs: () => collector.nextInMs() }
    return { surfaces: [mounted(capacity, createCapacity(deps))] }
  })
  const [first] = made
  if (first === undefined) throw new Error('no replica was made')
  const replicas = [first, make(tenancy)] as const
  return {
    ...tenancy,
    replicas,
    elapsed,
    replica: () => make(tenancy),
    async round(ms = INTERVAL_MS) {
      elapsed.ms += ms
      tenancy.clock.nowMs += ms
      for (const { collector } of replicas) await collector.sample()
    },
  }
}

function createReplica(backend: Backend, elapsedMs: () => number): CapacityReplica {
  const parts = createCapacityParts(backend.ids, INTERVAL_MS)
  const reported: unknown[] = []
  const shared = {
    ...backend,
    ...parts,
    intervalMs: INTERVAL_MS,
    onFailure: (error: unknown) => void reported.push(error),
  }
  const datastore = refusingWrites(backend.datastore, () => replica.isReadOnly)
  const recorder = createCrossingRecorder(shared)
  const writer = createHistoryWriter(parts.capacityMonitor, INTERVAL_MS)
  const replica: CapacityReplica = {
    ...parts,
    reported,
    isReadOnly: false,
    collector: createCollector({ ...shared, datastore, elapsedMs }),
    async lead(leading = unfenced(backend)) {
      await recorder.run(leading)
      await writer.run(leading)
    },
    use: (domainId, dimension) => useOf(parts, domainId, dimension),
  }
  return replica
}

function useOf({ capacityMonitor }: CapacityParts, domainId: string, dimension: CapacityDimension) {
  return capacityMonitor.of(domainId)?.dimensions.find((one) => one.dimension === dimension)
}

/** A datastore whose pools refuse every statement that begins with `insert` or `with`. */
function refusingWrites(datastore: Datastore, isReadOnly: () => boolean): Datastore {
  return {
    ...datastore,
    pool: (name) =>
      isReadOnly()
        ? datastore.pool(name).withPlugin({
            transformQuery({ node }) {
              if (node.kind === 'RawNode' && /^\s*(?:insert|with)/.test(node.sqlFragments[0] ?? ''))
                throw new Error('the datastore is read-only')
              return node
            },
            transformResult: async ({ result }) => result,
          })
        : datastore.pool(name),
  }
}
