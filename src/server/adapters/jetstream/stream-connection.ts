import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../../ports/clock.ts'
import { EventBusUnavailable } from '../../ports/event-bus.ts'
import { ensureStream, readStream, type Incarnation, type StreamSettings } from './stream.ts'

export interface StreamConnectionOptions {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly settings: StreamSettings
  readonly clock: Clock
  /** Called with failures; they are retried. */
  readonly warn: (message: string, cause?: unknown) => void
}

/** The connection, with the state of the stream behind it. */
export interface StreamConnection {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly env: string
  /** Sends a request to the stream. @throws EventBusUnavailable at once while it is unavailable, or when the connection is lost meanwhile. */
  ask<T>(work: (stream: Incarnation) => Promise<T>): Promise<T>
  /** Reads the stream's state again. @throws EventBusUnavailable */
  look(): Promise<Incarnation>
  /** Calls back whenever the stream is available again. */
  onReady(callback: () => void): void
  awaySinceMs(): number | undefined
  close(): Promise<void>
}

const RETRY_MS = 500
/** Nobody serves the stream: it may have been deleted. */
const LOST_NAMES = new Set(['JetStreamNotEnabled', 'StreamNotFoundError', 'NoResponders'])

/** @throws the errors of creating the stream. */
export async function openStreamConnection({
  connection,
  manager,
  settings,
  clock,
  warn,
}: StreamConnectionOptions): Promise<StreamConnection> {
  const callbacks: (() => void)[] = []
  const underWay = new Set<(reason: Error) => void>()
  let stream: Incarnation | undefined = await ensureStream(manager, settings)
  let awaySinceMs: number | undefined
  let restoring: Promise<void> | undefined

  function leave(): void {
    stream = undefined
    awaySinceMs ??= clock.now()
    for (const giveUp of underWay) giveUp(new Error('the connection was lost'))
  }

  /** Looks for the stream until it is available, and creates it where it was deleted. */
  function restore(): void {
    leave()
    restoring ??= tryRestoring().finally(() => {
      restoring = undefined
    })
  }

  async function tryRestoring(): Promise<void> {
    while (!connection.isClosed()) {
      try {
        stream = await ensureStream(manager, settings)
        awaySinceMs = undefined
        for (const callback of callbacks) callback()
        return
      } catch (error) {
        warn('the event stream is unavailable; reconnecting until it is back', error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
      }
    }
  }

  /** Rejects as soon as the connection is lost: the client itself would wait for an answer that cannot come any more. */
  function orLost<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      underWay.add(reject)
      work.then(resolve, reject).finally(() => underWay.delete(reject))
    })
  }

  async function ask<T>(work: (stream: Incarnation) => Promise<T>): Promise<T> {
    if (stream === undefined) throw new EventBusUnavailable()
    try {
      const answer = await orLost(work(stream))
      if (stream !== undefined) awaySinceMs = undefined
      return answer
    } catch (error) {
      awaySinceMs ??= clock.now()
      if (error instanceof Error && LOST_NAMES.has(error.name)) restore()
      throw new EventBusUnavailable(error)
    }
  }

  void followStatus(connection, {
    onDisconnect() {
      leave()
      if (!connection.isClosed()) warn('the connection to NATS is lost; it is tried again until it is back')
    },
    onReconnect: restore,
    onError: (error) => warn('NATS connection error', error),
  })

  return {
    connection,
    manager,
    env: settings.env,
    ask,
    async look() {
      const found = await ask(() => readStream(manager, settings.env))
      if (stream !== undefined) stream = found
      return found
    },
    onReady: (callback) => void callbacks.push(callback),
    awaySinceMs: () => awaySinceMs,
    async close() {
      await connection.close()
    },
  }
}

interface StatusHooks {
  onDisconnect(): void
  onReconnect(): void
  onError(error: Error): void
}

async function followStatus(connection: NatsConnection, hooks: StatusHooks): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') hooks.onDisconnect()
    if (status.type === 'reconnect') hooks.onReconnect()
    if (status.type === 'error') hooks.onError(status.error)
  }
}
