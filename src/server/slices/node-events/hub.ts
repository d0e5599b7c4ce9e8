import type { Logger } from 'pino'
import { EventBusUnavailable, type BusEvent, type BusSubscription, type EventBus } from '../../ports/event-bus.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import { frameOf } from '../../http/streams/frames.ts'
import type { CatchUpDeps } from './stream-catch-up.ts'
import { frameCounter, type EndReason, type StreamMeter } from '../../http/streams/stream-meter.ts'
import { NodeStream, type StreamRequest, type StreamShared } from './stream.ts'
import { createReadLimiter } from './read-limiter.ts'
import { createKeepaliveScheduler } from '../../http/streams/keepalive-scheduler.ts'

/** The streams of this replica, and the one subscription that feeds them. */
export interface Hub {
  /** Follows the bus, now or as soon as it is reachable. Resolves after the first attempt, also when it failed. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether events are arriving. */
  isFollowing(): boolean
  /** The position of the last event received. */
  position(): bigint
  /** Streams of that node, of its own or of operators. */
  countOf(nodeId: string, isOwn: boolean): number
  /** Adds a stream; it buffers events until it is started. */
  open(request: StreamRequest): NodeStream
  /** The dependencies of the catch-up. */
  readonly catchUpDeps: CatchUpDeps
}

export interface HubDeps {
  readonly bus: EventBus
  readonly catchUpDeps: Pick<CatchUpDeps, 'publishedUpTo' | 'resync'>
  readonly meter: StreamMeter
  /** Counts the frames of each Domain. */
  readonly usage: UsageMeter
  readonly log: Logger
  /** How often a stream gets a keep-alive and a new authorization check, ms. */
  readonly keepAliveMs: number
  /** Pause before the next attempt to follow the bus, ms. */
  readonly retryMs: number
}

export function createHub({ bus, meter, usage, log, keepAliveMs, retryMs, ...deps }: HubDeps): Hub {
  const byNode = new Map<string, NodeStream[]>()
  const scheduler = createKeepaliveScheduler<NodeStream>(keepAliveMs)
  const limiter = createReadLimiter({ retryMs })
  let subscription: BusSubscription | undefined
  let position = 0n
  const stopping = new AbortController()

  const catchUpDeps: CatchUpDeps = { ...deps.catchUpDeps, ...limiter, bus }
  const shared: StreamShared = { catchUpDeps, log, onFrame: frameCounter(meter, usage), onEnd: remove }

  function remove(stream: NodeStream, reason: EndReason): void {
    scheduler.remove(stream)
    meter.ended(reason)
    const { nodeId } = stream.node
    const left = (byNode.get(nodeId) ?? []).filter((one) => one !== stream)
    if (left.length === 0) byNode.delete(nodeId)
    else byNode.set(nodeId, left)
  }

  function pass(event: BusEvent): void {
    position = event.seq
    const streams = byNode.get(event.nodeId)
    if (streams === undefined) return
    let frame: Buffer | undefined
    for (const stream of streams) {
      if (stream.isLive) stream.deliver(event, (frame ??= frameOf(event)))
      else stream.keep(event)
    }
  }

  function missed(): void {
    for (const streams of byNode.values()) for (const stream of streams) stream.missed(position)
  }

  async function tryToFollow(): Promise<void> {
    try {
      const found = await bus.subscribe({ onEvents: (events) => events.forEach(pass), onGap: missed })
      position = position > found.from ? position : found.from
      subscription = found
      if (stopping.signal.aborted) await found.stop()
    } catch (error) {
      if (!(error instanceof EventBusUnavailable)) log.error({ err: error }, 'the event stream cannot be followed')
    }
  }

  async function keepTrying(): Promise<void> {
    while (!stopping.signal.aborted && subscription === undefined) {
      await limiter.retryPause()
      await tryToFollow()
    }
  }

  return {
    catchUpDeps,
    async start() {
      await tryToFollow()
      void keepTrying()
    },
    async stop() {
      stopping.abort()
      scheduler.stop()
      await subscription?.stop()
    },
    isFollowing: () => subscription !== undefined && bus.awaySinceMs() === undefined,
    position: () => position,
    countOf: (nodeId, isOwn) => (byNode.get(nodeId) ?? []).filter((one) => one.isOwn === isOwn).length,
    open(request) {
      const stream = new NodeStream(shared, request)
      const { nodeId } = request.node
      byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), stream])
      scheduler.add(stream)
      meter.opened()
      return stream
    },
  }
}
