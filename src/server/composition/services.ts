import { contract } from '../../shared/contract/index.ts'
import type { Surface } from '../../shared/contract/operation.ts'
import { createTupleConsumer } from '../authz-sync/tuple-consumer.ts'
import type { CsrfTokens } from '../http/auth/csrf.ts'
import type { App } from '../http/app.ts'
import type { HoldingPorts } from '../http/held/find-hold.ts'
import type { ForeignRoutes, Page } from '../http/pages/pages.ts'
import { mounted, type Handlers, type MountedSurface } from '../http/request-context.ts'
import type { Slice, SurfaceName } from '../http/slice.ts'
import type { CapacityLimits } from '../ports/capacity-limits.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { OutboxConsumer } from '../ports/outbox.ts'
import type { UsageMeter } from '../ports/usage-meter.ts'
import type { Backend } from './backend.ts'
import type { CapacityParts } from '../slices/capacity/parts.ts'
import { createSlicePorts, type SlicePortsOptions } from './slice-ports.ts'
import type { SliceModule } from './slice-module.ts'
import { createSlices, SLICES } from './slices.ts'

/** What all slices together add to the server. */
export interface Services {
  readonly surfaces: readonly MountedSurface[]
  /** In the order in which they are tried. */
  readonly resolvers: readonly CredentialResolver[]
  /** Holds calls for an approval. */
  readonly holding: HoldingPorts
  /** Leads the server's calls to itself to the edge. To be called before it serves requests. */
  readonly bindLoopback: (app: Pick<App, 'fastify'>) => void
  /** Anti-forgery tokens of sessions. */
  readonly csrfTokens: CsrfTokens
  /** Pages for people, beside the operations. */
  readonly pages: readonly Page[]
  /** Paths that other libraries serve by themselves. */
  readonly foreignRoutes: readonly ForeignRoutes[]
  /** Counts what the Domains use. */
  readonly usage: UsageMeter
  readonly capacityLimits: CapacityLimits
  /** For the metrics. */
  readonly capacity: Pick<CapacityParts, 'capacityMonitor' | 'crossings'>
  /** What the leader does in the background. */
  readonly jobs: readonly LeaderJob[]
  readonly consumers: readonly OutboxConsumer[]
  /** Starts what runs in every process. Never rejects. */
  start(): Promise<void>
  /** Answers the requests that wait for a batch. Later requests of that kind are refused. */
  drain(): Promise<void>
  /** Writes what is buffered. */
  flush(): Promise<void>
}

/** Creates the slices over the backend. Subscribes their caches to the change feed, which must not run yet. */
export function createServices(backend: Backend, options: SlicePortsOptions): Services {
  const { ports, approvals, ...composed } = createSlicePorts(backend, options)
  const slices = createSlices(ports)
  approvals.kinds.add([...slices.flatMap((slice) => slice.approvalKinds ?? []), ...(options.approvalKinds ?? [])])
  const all = (step: 'start' | 'drain' | 'flush') => async (): Promise<void> => {
    await Promise.all(slices.map(async (slice) => slice[step]?.()))
  }
  return {
    ...composed,
    usage: composed.capacity.usage,
    capacityLimits: composed.capacity.capacityLimits,
    surfaces: surfacesOf(slices),
    resolvers: [...slices.flatMap(({ resolvers = [] }) => resolvers), approvals.loopback.resolver],
    holding: approvals.holding,
    bindLoopback: (app) => approvals.loopback.bind(app),
    pages: slices.flatMap(({ pages = [] }) => pages),
    jobs: slices.flatMap(({ jobs = [] }) => jobs),
    consumers: [...slices.flatMap(({ consumers = [] }) => consumers), ...tupleConsumers()],
    start: all('start'),
    drain: all('drain'),
    flush: all('flush'),
  }
}

function tupleConsumers(): readonly OutboxConsumer[] {
  const modules: readonly SliceModule[] = SLICES
  return modules.flatMap(({ tupleConsumer }) =>
    tupleConsumer === undefined ? [] : [createTupleConsumer(tupleConsumer)],
  )
}

function surfacesOf(slices: readonly Slice<SurfaceName>[]): readonly MountedSurface[] {
  const handlers = new Map(slices.flatMap((slice) => Object.entries(slice.handlers)))
  // `SlicePorts` has made sure that every surface is served, and `Slice` that it is by its own handlers.
  return Object.entries<Surface>(contract).map(([name, surface]) =>
    mounted<Surface>(surface, handlers.get(name) as Handlers<Surface> | undefined),
  )
}
