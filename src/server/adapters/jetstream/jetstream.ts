import { JetStreamApiError } from '@nats-io/jetstream'
import { BootError } from '../../ports/boot-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { EventBusUnavailable, type EventBus } from '../../ports/event-bus.ts'
import { connectNats, type NatsAddress } from './connect.ts'
import { openStreamConnection, type StreamConnection, type StreamConnectionOptions } from './stream-connection.ts'
import { createPublisher } from './publisher.ts'
import { createReader } from './reader.ts'
import { followStream, type StreamFollowing } from './stream-follower.ts'
import { readStream, type StreamSettings } from './stream.ts'

export interface JetStreamBusOptions {
  readonly address: NatsAddress
  readonly settings: StreamSettings
  readonly clock: Clock
  /** Called with outages and with failures that are retried. */
  readonly warn: (message: string, cause?: unknown) => void
}

/**
 * The stream on NATS JetStream. Connects, and creates or updates the stream.
 * @throws BootError in one sentence.
 */
export async function openJetStreamBus({ address, settings, clock, warn }: JetStreamBusOptions): Promise<EventBus> {
  const connected = await connectNats(address, warn)
  const nats = await openOrRefuse({ ...connected, settings, clock, warn })
  const reader = createReader(nats)
  const publish = createPublisher(nats, reader, () => performance.now())
  let following: StreamFollowing | undefined
  return {
    kind: 'jetstream',
    publish,
    bounds: reader.bounds,
    read: reader.read,
    async subscribe(follower) {
      if (following !== undefined) throw new Error('the stream is followed already')
      const begun = await followStream(nats, follower, warn)
      following = begun
      return {
        from: begun.from,
        async stop() {
          begun.stop()
          if (following === begun) following = undefined
        },
      }
    },
    ping: (deadlineMs) => ping(nats, deadlineMs),
    awaySinceMs: () => nats.awaySinceMs(),
    async close() {
      following?.stop()
      following = undefined
      await nats.close()
    },
  }
}

async function openOrRefuse(options: StreamConnectionOptions): Promise<StreamConnection> {
  try {
    return await openStreamConnection(options)
  } catch (error) {
    await options.connection.close()
    const said = error instanceof JetStreamApiError ? `: ${error.message}` : ', for it does not answer'
    throw new BootError(
      error instanceof JetStreamApiError ? 1 : 8,
      `The event stream could not be made or brought up to date in JetStream${said}; see its limits, its permissions and --nats-replicas.`,
      error,
    )
  }
}

async function ping(nats: StreamConnection, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new EventBusUnavailable()), deadlineMs)
  })
  try {
    await Promise.race([nats.ask(() => readStream(nats.manager, nats.env)), late])
  } finally {
    clearTimeout(timer)
  }
}
