import type { OrderStates, Prometheus } from '../adapters/prometheus/prometheus.ts'
import { DIMENSION_FACTS } from '../../shared/capacity/dimensions.ts'
import { readRelayLag } from '../event-relay/lag-store.ts'
import type { App } from '../http/app.ts'
import type { BackupSchedule } from '../backup/schedule/schedule.ts'
import type { Leadership } from '../jobs/leadership.ts'
import type { Health } from '../ops/health.ts'
import type { ProcessFiles } from '../ports/process-files.ts'
import { readLag } from '../outbox/store.ts'
import { readWebhookQueue } from '../slices/webhooks/queue-store.ts'
import type { Backend } from './backend.ts'
import type { Services } from './services.ts'

/** The counters, and places for the parts whose states they show: each is set once that part exists. */
export interface Metrics {
  readonly prometheus: Prometheus
  health: Health | undefined
  order: OrderStates | undefined
  engine: Backend['engine'] | undefined
  app: App | undefined
  capacity: Services['capacity'] | undefined
  backups: BackupSchedule | undefined
}

/** Makes the counters. Their library is loaded here alone, for servers that serve metrics. */
export async function createMetrics(processFiles: ProcessFiles | undefined): Promise<Metrics> {
  const { createPrometheus } = await import('../adapters/prometheus/prometheus.ts')
  const prometheus = createPrometheus({
    probeStates: async () => (await metrics.health?.report())?.probes ?? [],
    order: () => metrics.order,
    authzIndex: () => metrics.engine?.indexStats?.(),
    load: () => metrics.app?.load(),
    backups: () => metrics.backups?.status(),
    processFiles,
    capacity: { state: () => metrics.capacity && stateOf(metrics.capacity), defaultTargets: DEFAULT_TARGETS },
  })
  const metrics: Metrics = {
    prometheus,
    health: undefined,
    order: undefined,
    engine: undefined,
    app: undefined,
    capacity: undefined,
    backups: undefined,
  }
  return metrics
}

const DEFAULT_TARGETS = Object.fromEntries(
  Object.entries(DIMENSION_FACTS).map(([dimension, { defaultTarget }]) => [dimension, defaultTarget]),
)

function stateOf({ capacityMonitor, crossings }: Services['capacity']) {
  return { domains: capacityMonitor.all(), recordFailures: crossings.failures() }
}

/** Reads the states of numbering and of the event relay for the counters. */
export function orderOf({ datastore, clock }: Backend, jobs: Leadership): OrderStates {
  const db = datastore.pool('interactive')
  return {
    isLeading: () => jobs.isLeading(),
    outboxLag: () => readLag(db),
    relayLag: () => readRelayLag(db, clock.now()),
    webhooks: () => readWebhookQueue(db),
  }
}
