import type { Logger } from 'pino'
import { createSlots } from '../../../shared/semaphore.ts'
import { createKeepaliveScheduler } from '../../http/streams/keepalive-scheduler.ts'
import { frameCounter, type EndReason, type StreamMeter } from '../../http/streams/stream-meter.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'
import { replay, type ReplayDeps } from './replay.ts'
import { DomainStream, type StreamRequest, type StreamShared } from './stream.ts'
import { createTail, type Batch } from './tail.ts'

/** The streams of this replica, and the one tail that feeds them. */
export interface Hub {
  /** Streams of that Domain, and of that reader. */
  countOf(of: { readonly domainId: string } | { readonly subject: string }): number
  /** Adds a stream. The tail is read from `head` on, unless it is read already. */
  open(request: StreamRequest, head: bigint): DomainStream
  stop(): void
}

export interface HubDeps {
  readonly db: () => Db
  readonly signer: Signer
  readonly clock: Clock
  readonly meter: StreamMeter
  /** Counts the frames of each Domain. */
  readonly usage: UsageMeter
  readonly log: Logger
  /** How often a stream gets a keep-alive and a new authorization check, ms. */
  readonly keepAliveMs: number
  /** Pause between two looks at the outbox, ms. */
  readonly pollMs: number
}

/** Replays that read at once; the others wait. */
const REPLAYS_MAX = 4

export function createHub({ meter, usage, keepAliveMs, ...deps }: HubDeps): Hub {
  const { log, pollMs } = deps
  const byDomain = new Map<string, Set<DomainStream>>()
  const scheduler = createKeepaliveScheduler<DomainStream>(keepAliveMs)
  const tail = createTail({ ...deps, domainIds: () => new Set(byDomain.keys()), onBatch: deliver })
  const replayDeps: ReplayDeps = {
    ...deps,
    reads: createSlots(REPLAYS_MAX),
    pause: () => new Promise((resolve) => void setTimeout(resolve, pollMs).unref()),
  }
  const shared: StreamShared = {
    log,
    onFrame: frameCounter(meter, usage),
    onEnd: remove,
    onBehind: (stream) => void bringUp(stream),
  }

  function remove(stream: DomainStream, reason: EndReason): void {
    scheduler.remove(stream)
    meter.ended(reason)
    const streams = byDomain.get(stream.domainId)
    streams?.delete(stream)
    if (streams?.size === 0) byDomain.delete(stream.domainId)
  }

  async function bringUp(stream: DomainStream): Promise<void> {
    try {
      await replay(replayDeps, stream, () => tail.position())
    } catch (error) {
      stream.failed(error)
    }
  }

  function liveOf(domainId: string): readonly DomainStream[] {
    return [...(byDomain.get(domainId) ?? [])].filter(({ isLive }) => isLive)
  }

  function deliver({ upTo, domainIds, frames }: Batch): void {
    for (const frame of frames) for (const stream of liveOf(frame.domainId)) stream.send(frame)
    for (const domainId of byDomain.keys()) {
      for (const stream of liveOf(domainId)) {
        if (domainIds.has(domainId)) stream.passed(upTo)
        // Its Domain was not followed yet when the batch was read.
        else stream.fallBehind()
      }
    }
  }

  return {
    countOf(of) {
      if ('domainId' in of) return byDomain.get(of.domainId)?.size ?? 0
      return [...byDomain.values()].flatMap((streams) => [...streams]).filter(({ subject }) => subject === of.subject)
        .length
    },
    open(request, head) {
      const stream = new DomainStream(shared, request)
      const streams = byDomain.get(request.domainId)
      if (streams === undefined) byDomain.set(request.domainId, new Set([stream]))
      else streams.add(stream)
      tail.run(head)
      scheduler.add(stream)
      meter.opened()
      return stream
    },
    stop() {
      tail.stop()
      scheduler.stop()
    },
  }
}
