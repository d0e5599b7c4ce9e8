import { Counter, Gauge, type Registry } from 'prom-client'

/** The current load of the server. */
export type LoadState = () => { readonly running: number; readonly lagSeconds: number } | undefined

/** Counts requests and connections that an overloaded server refuses. */
export interface LoadMetrics {
  refused(reason: string): void
}

/** Registers gauges of the values that the limits of the edge use, and counters of what they refuse. */
export function createLoadMetrics(registry: Registry, state: LoadState): LoadMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, read: (found: NonNullable<ReturnType<LoadState>>) => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const found = state()
        if (found !== undefined) this.set(read(found))
      },
    })
  gauge('http_requests_running', 'Requests under way, event streams apart', ({ running }) => running)
  gauge('event_loop_lag_seconds', 'Longest delay of the event loop within the last 15 to 30 seconds', (found) => {
    return found.lagSeconds
  })
  const refusals = new Counter({
    name: 'overload_refusals_total',
    help: 'Requests and connections refused because the server had too much to do, by the bound that was met',
    labelNames: ['reason'],
    registers,
  })
  return { refused: (reason) => refusals.inc({ reason }) }
}
