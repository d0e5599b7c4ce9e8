import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { createRequestMetrics } from './request-metrics.ts'

/** The counters with their text, as Prometheus reads it. Labels have few values, never what callers choose. */
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
}

/** What a probe last said, asked whenever the metrics are read. */
export type ProbeStates = () => Promise<readonly { readonly name: string; readonly ok: boolean }[]>

/** Counts with prom-client, in a registry of its own: two servers in one process do not mix. */
export function createPrometheus(probeStates: ProbeStates): Prometheus {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })

  const requests = createRequestMetrics()
  const written = counter('audit_rows_written_total', 'Audit rows stored')
  const failed = counter('audit_write_failures_total', 'Audit rows that could not be stored')
  const dropped = counter('audit_rows_dropped_total', 'Audit rows of reads that the queue had no room for')
  registry.registerMetric(probeGauge(probeStates))

  return {
    contentType: registry.contentType,
    text: async () => (await registry.metrics()) + requests.text(),
    observe: requests.observe,
    audit: {
      written: (rows) => written.inc(rows),
      dropped: (rows) => dropped.inc(rows),
      failed: (rows) => failed.inc(rows),
    },
  }
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
