import type { IdSource } from '../ports/clock.ts'
import { isUnavailable, type Datastore } from '../ports/datastore.ts'
import { LeadershipLost } from '../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../ports/leadership.ts'
import type { NumberedEvent, OutboxConsumer } from '../ports/outbox.ts'
import type { Tracing } from '../ports/tracing.ts'
import { POLL_MS } from './numbering.ts'
import { hasUnread, moveCursor, readUnread, registerConsumer } from './store.ts'

export interface ConsumptionDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly consumer: OutboxConsumer
  /** Called with an event that the consumer cannot process. It is retried without end, and blocks the events after it. */
  readonly onPoison: (consumer: string, event: NumberedEvent, error: unknown) => void
  /** Traces each batch with the correlation ids of its events; no traces when absent. */
  readonly tracing?: Tracing | undefined
}

/** Batch size of a consumer that sets none. */
const BATCH_MAX = 100

/** Name of the job that runs the consumer. */
export function consumptionOf(consumer: OutboxConsumer): string {
  return `outbox-consumer:${consumer.name}`
}

/** Makes the job that passes numbered outbox rows to one consumer, in batches. */
export function createConsumption(deps: ConsumptionDeps): LeaderJob {
  const { consumer } = deps
  const { batchMax = BATCH_MAX } = consumer
  const worker = deps.datastore.pool('worker')
  let batch = batchMax
  let registeredIn: Leading | undefined

  async function register(leading: Leading): Promise<void> {
    if (registeredIn === leading) return
    await leading.transaction((tx) => registerConsumer(tx, consumer.name))
    registeredIn = leading
  }

  /** Processes one batch. Resolves with whether there may be more. */
  async function processBatch(leading: Leading): Promise<boolean> {
    const options = { pool: 'worker', correlationId: deps.ids.next() } as const
    const taken = await leading.unitOfWork.run(options, async (change) => {
      const { cursor, events } = await readUnread(change.db, consumer.name, batch)
      assertContiguous(cursor, events)
      if (events.length === 0) return undefined
      const count = await traced(deps, events, () => callConsumer(change, events))
      await moveCursor(change.db, consumer.name, cursor + BigInt(count))
      return { isMore: count < events.length || events.length === batch }
    })
    if (taken !== undefined) consumer.onTaken?.()
    return taken?.isMore === true
  }

  async function callConsumer(
    change: Parameters<OutboxConsumer['handle']>[0],
    events: readonly NumberedEvent[],
  ): Promise<number> {
    try {
      return (await consumer.handle(change, events)) ?? events.length
    } catch (error) {
      const [first] = events
      if (first !== undefined && events.length === 1 && !isUnavailable(error))
        deps.onPoison(consumer.name, first, error)
      throw error
    }
  }

  return {
    name: consumptionOf(consumer),
    everyMs: POLL_MS,
    isUrgent: true,
    async run(leading) {
      await register(leading)
      if (!(await hasUnread(worker, consumer.name))) return false
      try {
        const isMore = await processBatch(leading)
        batch = Math.min(batch * 2, batchMax)
        return isMore
      } catch (error) {
        if (batch === 1 || error instanceof LeadershipLost || isUnavailable(error)) throw error
        // One event of the batch fails. With batches of one, the events before it are processed.
        batch = 1
        return true
      }
    },
  }
}

/** Runs the work in a span without a parent: its rows come from many requests, whose correlation ids are an attribute. */
async function traced<T>(
  { consumer, tracing }: ConsumptionDeps,
  events: readonly NumberedEvent[],
  work: () => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return work()
  const attributes = {
    'messaging.batch.message_count': events.length,
    'ctl.correlation_ids': [...new Set(events.map(({ correlationId }) => correlationId))],
  }
  const span = tracing.begin(consumptionOf(consumer), { kind: 'consumer', parent: undefined, attributes })
  try {
    const taken = await work()
    span.end({}, undefined)
    return taken
  } catch (error) {
    span.end({}, error instanceof Error ? error.name : 'unknown')
    throw error
  }
}

/** @throws Error if a number is missing, because processing would skip an event. */
function assertContiguous(cursor: bigint, events: readonly NumberedEvent[]): void {
  const missing = events.findIndex(({ seq }, index) => seq !== cursor + BigInt(index) + 1n)
  if (missing !== -1)
    throw new Error(`outbox row ${cursor + BigInt(missing) + 1n} is missing: nothing after it is consumed`)
}
