import { AckPolicy, DeliverPolicy, type JetStreamManager } from '@nats-io/jetstream'
import { createInbox, nanos, type Msg, type NatsConnection } from '@nats-io/transport-node'
import type { StoredMessage } from './messages.ts'
import { streamOf } from './names.ts'
import { deliveryPositionOf } from './delivery-position.ts'

export interface DeliveryOptions {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly env: string
  /** The number in the stream after which everything is delivered. */
  readonly after: number
  /** Called synchronously, in the order of the stream. */
  readonly onMessages: (messages: readonly StoredMessage[]) => void
  /** Called once when messages may be missing from now on. */
  readonly onLost: (reason: string) => void
}

export interface Delivery {
  stop(): void
}

const HEARTBEAT_MS = 1_000
const SILENCE_MAX_MS = 3_500
const INACTIVE_MS = 30_000
const STALLED = 'Nats-Consumer-Stalled'
const LAST_DELIVERED = 'Nats-Last-Consumer'

/** Makes the server push the whole stream in order, without acknowledgements, until a message is missing. */
export async function openDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { connection, manager, env, onLost } = options
  const inbox = createInbox()
  let isOver = false

  function end(): void {
    isOver = true
    clearInterval(watch)
    subscription.unsubscribe()
  }

  function lose(reason: string): void {
    if (isOver) return
    reader.flush()
    end()
    onLost(reason)
  }

  const reader = createMessageReader(options, lose)
  const subscription = connection.subscribe(inbox, {
    callback(error, message) {
      if (isOver) return
      if (error === null) reader.take(message)
      else lose(error.message)
    },
  })
  const watch = setInterval(() => reader.isSilent() && lose('the server fell silent'), HEARTBEAT_MS).unref()
  const name = await createConsumer(options, inbox).catch((error: unknown) => {
    end()
    throw error
  })
  return {
    stop() {
      if (!isOver) end()
      // If this request is lost, the server removes the consumer after a time without listeners.
      if (!connection.isClosed()) manager.consumers.delete(streamOf(env), name).catch(() => undefined)
    },
  }
}

/** Resolves with the name that the server gave it. */
async function createConsumer({ manager, env, after }: DeliveryOptions, inbox: string): Promise<string> {
  const { name } = await manager.consumers.add(streamOf(env), {
    deliver_subject: inbox,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    ack_policy: AckPolicy.None,
    flow_control: true,
    idle_heartbeat: nanos(HEARTBEAT_MS),
    inactive_threshold: nanos(INACTIVE_MS),
    mem_storage: true,
    num_replicas: 1,
  })
  return name
}

interface MessageReader {
  take(message: Msg): void
  /** Delivers the received messages. */
  flush(): void
  /** Whether no message and no heartbeat arrived for a while. */
  isSilent(): boolean
}

/** Takes the numbered messages of one consumer, and detects a missing one. */
function createMessageReader(
  { connection, onMessages }: Pick<DeliveryOptions, 'connection' | 'onMessages'>,
  lose: (reason: string) => void,
): MessageReader {
  let delivered = 0
  let heardAt = performance.now()
  let batch: StoredMessage[] = []

  function flush(): void {
    const messages = batch
    batch = []
    if (messages.length > 0) onMessages(messages)
  }

  /** Heartbeats, and flow control requests. */
  function takeStatus({ headers, reply }: Msg): void {
    if (headers?.code !== 100) return lose(headers?.description ?? 'the consumer ended')
    const question = reply || headers.get(STALLED)
    if (question) connection.publish(question)
    const last = headers.get(LAST_DELIVERED)
    if (last !== '' && Number(last) > delivered) lose('a message was not delivered')
  }

  return {
    take(message) {
      heardAt = performance.now()
      const { subject, headers, data } = message
      if ((headers?.code ?? 0) !== 0) return takeStatus(message)
      const { streamSeq, deliveredSeq } = deliveryPositionOf(message)
      if (deliveredSeq !== delivered + 1) return lose('a message was not delivered')
      delivered = deliveredSeq
      // Messages that arrive together are delivered together.
      if (batch.length === 0) queueMicrotask(flush)
      batch.push({ subject, streamSeq, headers, data })
    },
    flush,
    isSilent: () => performance.now() - heardAt > SILENCE_MAX_MS,
  }
}
