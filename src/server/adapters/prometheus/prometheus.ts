import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { ProcessFiles } from '../../ports/process-files.ts'
import { createBackupMetrics, type BackupState } from './backup-metrics.ts'
import { createCapacityMetrics, type CapacityMetricsSource } from './capacity-metrics.ts'
import { createLoadMetrics, type LoadMetrics, type LoadState } from './load-metrics.ts'
import { createRelayMetrics, type RelayLag, type RelayMetrics } from './relay-metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'
import { createStreamMetrics, type StreamMetrics } from './stream-metrics.ts'
import { createWebhookMetrics, type WebhookState } from './webhook-metrics.ts'

/** The metrics, and their text in the format of Prometheus. Labels have few values and never contain input of callers. */
export interface Prometheus {
  readonly contentType: string
  text(): Promise<string>
  /** Counts one answered request under its operation id. */
  readonly observe: (operation: string, status: number, seconds: number) => void
  /** Counts audit rows: stored, lost to a full queue, refused by the datastore. */
  readonly audit: {
    written(rows: number): void
    dropped(rows: number): void
    failed(rows: number): void
  }
  /** Counts events on their way to the stream. */
  readonly relay: RelayMetrics
  /** Counts event streams. */
  readonly streams: StreamMetrics
  /** Counts requests and connections that an overloaded server refuses. */
  readonly overload: LoadMetrics
}

/** The last result of each probe, read with the metrics. */
export type ProbeStates = () => Promise<readonly { readonly name: string; readonly ok: boolean }[]>

/** The state of leadership, and the backlog of the outbox, of the relay and of webhooks. */
export interface OrderStates {
  isLeading(): boolean
  /**
   * Rows that wait for a number, and rows that each consumer has not processed. @throws while the datastore is
   * unavailable.
   */
  outboxLag(): Promise<{
    readonly unnumbered: number
    readonly consumers: readonly { readonly name: string; readonly rows: number }[]
  }>
  /** Events that have not reached the event stream yet. @throws while the datastore is unavailable. */
  relayLag(): Promise<RelayLag>
  /** What waits for endpoints of webhooks. @throws while the datastore is unavailable. */
  webhooks(): Promise<WebhookState>
}

/** The content of the authorization index. */
export type IndexState = () =>
  | { readonly tuples: number; readonly bytes: number; readonly bytesMax: number }
  | undefined

export interface PrometheusDeps {
  readonly probeStates: ProbeStates
  /** The state of leadership and outbox; undefined until they exist, since they start after the metrics. */
  readonly order?: () => OrderStates | undefined
  readonly authzIndex?: IndexState
  readonly load?: LoadState
  readonly backups?: BackupState
  readonly capacity?: CapacityMetricsSource
  /** Counts the open files of the process without reading them one by one in the event loop, as prom-client does. */
  readonly processFiles?: Pick<ProcessFiles, 'count'> | undefined
}

/** Creates the metrics with prom-client, in a separate registry for each server of the process. */
export function createPrometheus({
  probeStates,
  order = () => undefined,
  authzIndex = () => undefined,
  load = () => undefined,
  backups = () => undefined,
  capacity,
  processFiles,
}: PrometheusDeps): Prometheus {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  if (processFiles !== undefined) replaceOpenFiles(registry, processFiles)
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })

  const requests = createRequestMetrics()
  const written = counter('audit_rows_written_total', 'Audit rows stored')
  const failed = counter('audit_write_failures_total', 'Audit rows that could not be stored')
  const dropped = counter('audit_rows_dropped_total', 'Audit rows beyond the share of the queue of their principal')
  registry.registerMetric(probeGauge(probeStates))
  for (const gauge of [...orderGauges(order), ...indexGauges(authzIndex)]) registry.registerMetric(gauge)
  createBackupMetrics(registry, backups)
  createWebhookMetrics(registry, async () => order()?.webhooks())
  if (capacity !== undefined) createCapacityMetrics(registry, capacity)

  return {
    contentType: registry.contentType,
    text: async () => (await registry.metrics()) + requests.text(),
    observe: requests.observe,
    relay: createRelayMetrics(registry, async () => order()?.relayLag()),
    streams: createStreamMetrics(registry),
    overload: createLoadMetrics(registry, load),
    audit: {
      written: (rows) => written.inc(rows),
      dropped: (rows) => dropped.inc(rows),
      failed: (rows) => failed.inc(rows),
    },
  }
}

function replaceOpenFiles(registry: Registry, files: Pick<ProcessFiles, 'count'>): void {
  const name = 'process_open_fds'
  registry.removeSingleMetric(name)
  const gauge = new Gauge({
    name,
    help: 'Number of open file descriptors.',
    registers: [],
    async collect() {
      const open = await files.count()
      if (open !== undefined) this.set(open)
    },
  })
  registry.registerMetric(gauge)
}

function probeGauge(probeStates: ProbeStates): Gauge {
  return new Gauge({
    name: 'health_probe_up',
    help: '1 while the probed dependency answers',
    labelNames: ['probe'],
    registers: [],
    async collect() {
      for (const { name, ok } of await probeStates()) this.set({ probe: name }, ok ? 1 : 0)
    },
  })
}

/**
 * Gauges of the leader and the outbox. While the datastore is unavailable they have no value; a probe reports that
 * outage.
 */
function orderGauges(order: () => OrderStates | undefined): readonly Gauge[] {
  const leading = new Gauge({
    name: 'leading',
    help: '1 in the one process of a deployment that leads',
    registers: [],
    collect() {
      this.set(order()?.isLeading() === true ? 1 : 0)
    },
  })
  const lag = new Gauge({
    name: 'outbox_lag_rows',
    help: 'Outbox rows that wait for a number (counted up to 10000), or for the consumer of that name',
    labelNames: ['stage'],
    registers: [],
    async collect() {
      this.reset()
      const found = await order()
        ?.outboxLag()
        .catch(() => undefined)
      if (found === undefined) return
      this.set({ stage: 'numbering' }, found.unnumbered)
      for (const { name, rows } of found.consumers) this.set({ stage: name }, rows)
    },
  })
  return [leading, lag]
}

function indexGauges(state: IndexState): readonly Gauge[] {
  const rows = [
    ['authz_index_tuples', 'Tuples in the authorization index', 'tuples'],
    ['authz_index_bytes', 'Memory that the authorization index takes', 'bytes'],
    ['authz_index_bytes_max', 'Memory above which the authorization index is too large for this machine', 'bytesMax'],
  ] as const
  return rows.map(
    ([name, help, member]) =>
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          const found = state()
          if (found !== undefined) this.set(found[member])
        },
      }),
  )
}
