import type { Logger } from 'pino'
import type { Slice } from '../../http/slice.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createCollector } from './collector.ts'
import { createCrossingRecorder } from './crossing-recorder.ts'
import { createHistorySweeper, createHistoryWriter } from './history-writer.ts'
import type { CapacityParts } from './parts.ts'
import { createCapacity } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

interface CapacityPorts extends CapacityParts {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** How often every Domain is sampled, ms. */
  readonly capacityIntervalMs: number
}

/** The capacity of Domains: samples, targets and their history. */
export function createSlice({ log, capacityIntervalMs: intervalMs, ...ports }: CapacityPorts): Slice<'capacity'> {
  const collector = createCollector({
    ...ports,
    intervalMs,
    elapsedMs: () => performance.now(),
    onFailure: (error) => log.warn({ err: error }, 'the capacity of the Domains could not be sampled'),
  })
  return {
    handlers: { capacity: createCapacity({ ...ports, intervalMs, nextInMs: () => collector.nextInMs() }) },
    jobs: [
      createCrossingRecorder({
        ...ports,
        intervalMs,
        onFailure: (error) => log.warn({ err: error }, 'a crossing of a capacity threshold could not be recorded'),
      }),
      createHistoryWriter(ports.capacityMonitor, intervalMs),
      createHistorySweeper(ports.clock),
    ],
    start: async () => collector.start(),
    flush: () => collector.stop(),
  }
}
