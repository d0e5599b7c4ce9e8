import { Counter, Gauge, type Registry } from 'prom-client'

/** The current load of the server. `files`: undefined where the limit of open files is unknown. */
export type LoadState = () =>
  | {
      readonly running: number
      readonly lagSeconds: number
      readonly files: { readonly streamsMax: number } | undefined
    }
  | undefined

/** Counts requests and connections that an overloaded server refuses. */
export interface LoadMetrics {
  refused(reason: string): void
}

/** Registers gauges of the values that the limits of the edge use, and counters of what they refuse. */
export function createLoadMetrics(registry: Registry, state: LoadState): LoadMetrics {
  const registers = [registry]
  const gauge = (
    name: string,
    help: string,
    read: (found: NonNullable<ReturnType<LoadState>>) => number | undefined,
  ): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const found = state()
        const value = found && read(found)
        // Without labels a gauge begins with 0.
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  gauge('http_requests_running', 'Requests under way, event streams apart', ({ running }) => running)
  gauge('event_loop_lag_seconds', 'Longest delay of the event loop within the last 15 to 30 seconds', (found) => {
    return found.lagSeconds
  })
  gauge(
    'open_files_streams_max',
    'Open files of the process above which new event streams are refused',
    ({ files }) => files?.streamsMax,
  )
  const refusals = new Counter({
    name: 'overload_refusals_total',
    help: 'Requests and connections refused because the server had too much to do, by the bound that was met',
    labelNames: ['reason'],
    registers,
  })
  return { refused: (reason) => refusals.inc({ reason }) }
}
