import type { Logger } from 'pino'
import { createEventLog } from '../adapters/event-log/event-log.ts'
import { createEventRetention } from '../adapters/event-log/retention.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { EventBus } from '../ports/event-bus.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import { throttledReporter } from './throttled-reporter.ts'

/** A bus and what only some of them have. */
export interface OpenedBus extends EventBus {
  /** Keeps the stream within its bounds; absent where a server of its own does that. */
  readonly retention?: LeaderJob
}

export interface BusGround {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly log: Logger
}

const REPORT_EVERY_MS = 60_000

/**
 * Opens the stream of events that the configuration names. What NATS needs is loaded only where there is one.
 * @throws BootError in one sentence.
 */
export async function openEventBus(config: Pick<Config, 'env' | 'nats'>, ground: BusGround): Promise<OpenedBus> {
  const { env, nats } = config
  if (nats === undefined) return openLog(ground)
  const { openJetStreamBus } = await import('../adapters/jetstream/jetstream.ts')
  const { clock, log } = ground
  const report = throttledReporter(
    (message, error) => log.warn({ err: error }, message),
    REPORT_EVERY_MS,
    () => performance.now(),
  )
  const { replicas, bytesMax, ...address } = nats
  return openJetStreamBus({ address, settings: { env, replicas, bytesMax }, clock, warn: report })
}

function openLog({ datastore, clock, log }: BusGround): OpenedBus {
  const report = throttledReporter(
    (_name, error) => log.warn({ err: error }, 'the event stream could not be read; it is tried again'),
    REPORT_EVERY_MS,
    () => performance.now(),
  )
  const bus = createEventLog({ datastore, clock, onFailure: (error) => report('event-log', error) })
  return { ...bus, retention: createEventRetention({ clock }) }
}
