import { Counter, Gauge, type Registry } from 'prom-client'

/** Counts the events of the relay. There are few types. */
export interface RelayMetrics {
  published(type: string, count: number): void
  merged(hints: number): void
  signingFailed(): void
  publishFailed(): void
}

/** Events that have not reached the event stream yet. */
export interface RelayLag {
  readonly rows: Readonly<Record<string, number>>
  readonly seconds: number
  readonly blockedLanes: number
}

/** Registers the counters of the relay, and gauges of its backlog. */
export function createRelayMetrics(registry: Registry, lag: () => Promise<RelayLag | undefined>): RelayMetrics {
  const registers = [registry]
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  const published = new Counter({
    name: 'event_relay_published_total',
    help: 'Events that the event stream was given and has, by type',
    labelNames: ['type'],
    registers,
  })
  const merged = counter('event_relay_hints_merged_total', 'Changes that were merged into the hint of another change')
  const signing = counter('event_relay_signing_failures_total', 'Passes of the relay that could not sign')
  const publishing = counter('event_relay_publish_failures_total', 'Passes of the relay that did not reach the stream')
  registerLag(registry, lag)
  return {
    published: (type, count) => published.inc({ type }, count),
    merged: (hints) => merged.inc(hints),
    signingFailed: () => signing.inc(),
    publishFailed: () => publishing.inc(),
  }
}

type AskLag = () => Promise<RelayLag | undefined>

/** While the datastore is unavailable the gauges have no value; a probe reports that outage. */
function registerLag(registry: Registry, lag: AskLag): void {
  const once = sharedWhileAsked(lag)
  const rows = new Gauge({
    name: 'event_relay_lag_rows',
    help: 'Changes that wait to be hinted, and events that wait to be signed or published; counted up to 10000',
    labelNames: ['stage'],
    registers: [],
    async collect() {
      this.reset()
      for (const [stage, count] of Object.entries((await once())?.rows ?? {})) this.set({ stage }, count)
    },
  })
  registry.registerMetric(rows)
  const figures = [
    [
      'event_relay_lag_seconds',
      'Age of the oldest change on its way to the event stream, unless it waits to be merged',
      'seconds',
    ],
    ['event_relay_blocked_lanes', 'Nodes whose events are held up by one that cannot go on', 'blockedLanes'],
  ] as const
  for (const [name, help, member] of figures) {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        this.remove()
        const found = await once()
        if (found !== undefined) this.set(found[member])
      },
    })
    registry.registerMetric(gauge)
  }
}

/** The gauges of one scrape share one query. */
function sharedWhileAsked(lag: AskLag): AskLag {
  let asked: Promise<RelayLag | undefined> | undefined
  return () => {
    asked ??= lag()
      .catch(() => undefined)
      .finally(() => (asked = undefined))
    return asked
  }
}
