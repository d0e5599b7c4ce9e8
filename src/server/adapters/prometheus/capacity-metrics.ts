import { Counter, Gauge, type Registry } from 'prom-client'

/** One dimension of a Domain, as of the last sample. */
export interface CapacityUse {
  readonly dimension: string
  readonly used: number
  /** Null without a target. */
  readonly ratio: number | null
  readonly crossings: number
}

/** What this process knows of the capacity of Domains. */
export interface CapacityState {
  readonly domains: readonly { readonly domainId: string; readonly dimensions: readonly CapacityUse[] }[]
  readonly recordFailures: number
}

/** What the metrics of the capacity of Domains are made of. */
export interface CapacityMetricsSource {
  /** Undefined until the services exist, since they start after the metrics. */
  readonly state: () => CapacityState | undefined
  readonly defaultTargets: Readonly<Record<string, number>>
}

const labelNames = ['domain_id', 'dimension']

/** Registers what S1 names (S1 Events: capacity). The values of a Domain that is gone are gone with it. */
export function createCapacityMetrics(registry: Registry, { state, defaultTargets }: CapacityMetricsSource): void {
  const registers = [registry]
  const forEach = (set: (labels: { domain_id: string; dimension: string }, use: CapacityUse) => void): void => {
    for (const { domainId, dimensions } of state()?.domains ?? [])
      for (const use of dimensions) set({ domain_id: domainId, dimension: use.dimension }, use)
  }
  const gauge = (name: string, help: string, read: (use: CapacityUse) => number | null): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        forEach((labels, use) => {
          const value = read(use)
          if (value !== null) this.set(labels, value)
        })
      },
    })
  gauge('service_capacity_used', 'What a Domain has or uses a second, in all replicas', ({ used }) => used)
  gauge(
    'service_capacity_ratio',
    'The same divided by the target of the Domain; missing without one',
    (use) => use.ratio,
  )
  const targets = new Gauge({
    name: 'service_capacity_target',
    help: 'Default target of a dimension; Domains may have others',
    labelNames: ['dimension'],
    registers,
  })
  for (const [dimension, target] of Object.entries(defaultTargets)) targets.set({ dimension }, target)
  registerCounters(registry, { state, forEach })
}

interface Counting extends Pick<CapacityMetricsSource, 'state'> {
  readonly forEach: (set: (labels: { domain_id: string; dimension: string }, use: CapacityUse) => void) => void
}

function registerCounters(registry: Registry, { state, forEach }: Counting): void {
  const crossings = new Counter({
    name: 'service_capacity_crossings_total',
    help: 'Times that the ratio of a Domain reached 0.80 from below, as seen by this process',
    labelNames,
    registers: [],
    collect() {
      this.reset()
      forEach((labels, use) => this.inc(labels, use.crossings))
    },
  })
  const failures = new Counter({
    name: 'service_capacity_crossing_record_failures_total',
    help: 'Attempts to write the audit row of a crossing that failed; each is tried again',
    registers: [],
    collect() {
      this.reset()
      this.inc(state()?.recordFailures ?? 0)
    },
  })
  for (const metric of [crossings, failures]) registry.registerMetric(metric)
}
