import type { Logger } from 'pino'
import { isOutage } from '../../http/streams/outage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import { framesOf, resyncAt, type DomainEvent, type DomainFrame } from './frames.ts'
import { isGone, WINDOW_ROWS } from './replay.ts'
import { readBounds, readEvents, type Bounds } from './store.ts'

/** New events, ready to be sent. */
export interface Batch {
  /** Everything of these Domains up to there is in the batch. */
  readonly upTo: bigint
  readonly domainIds: ReadonlySet<string>
  readonly frames: readonly DomainFrame[]
}

/** Reads the end of the outbox while there are readers. One a process. */
export interface Tail {
  /** The position up to which batches were handed over. */
  position(): bigint
  /** Reads from that position on, unless it reads already. */
  run(from: bigint): void
  stop(): void
}

export interface TailDeps {
  readonly db: () => Db
  readonly signer: Signer
  readonly clock: Clock
  readonly log: Logger
  /** Pause between two looks at the outbox, ms. */
  readonly pollMs: number
  /** Domains that are followed now; with none the tail stops by itself. */
  readonly domainIds: () => ReadonlySet<string>
  /** Takes a batch. Called synchronously with the move of the position; must not throw. */
  readonly onBatch: (batch: Batch) => void
}

/** Events of one Domain in one batch beyond which its readers get `stream.resync` instead. */
const BATCH_EVENTS_MAX = 200

/** What is read next, with the position after it. */
interface Part {
  readonly upTo: bigint
  readonly events: readonly DomainEvent[]
}

export function createTail(deps: TailDeps): Tail {
  const { db, signer, log, pollMs } = deps
  let position = 0n
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let hasFailed = false
  const stopping = new AbortController()

  async function look(): Promise<void> {
    const bounds = await readBounds(db())
    while (position < bounds.head && !stopping.signal.aborted) await take(bounds)
  }

  async function take(bounds: Bounds): Promise<void> {
    const domainIds = new Set(deps.domainIds())
    const { upTo, events } = isGone(position, bounds)
      ? leftOut([...domainIds], bounds.head)
      : await next([...domainIds], bounds.head)
    const frames = await framesOf(signer, events)
    position = upTo
    deps.onBatch({ upTo, domainIds, frames })
  }

  async function next(domainIds: readonly string[], head: bigint): Promise<Part> {
    const upTo = position + WINDOW_ROWS < head ? position + WINDOW_ROWS : head
    const window = { after: position, upTo }
    const events = await readEvents(db(), { domainIds, window, max: BATCH_EVENTS_MAX + 1 })
    return { upTo, events: bounded(events, upTo, deps.clock.now()) }
  }

  /** One event for each Domain stands for rows that are gone, or too many: after a restore the positions leap. */
  function leftOut(domainIds: readonly string[], head: bigint): Part {
    const nowMs = deps.clock.now()
    return { upTo: head, events: domainIds.map((domainId) => resyncAt(domainId, head, nowMs)) }
  }

  /** The outbox is read four times a second: only the first of consecutive failures is logged. */
  function reportOnce(error: unknown): void {
    if (!hasFailed) log.error({ err: error }, 'the events of Domains cannot be read; it is tried again')
    hasFailed = true
  }

  async function poll(): Promise<void> {
    try {
      await look()
      if (hasFailed) log.info('the events of Domains are read again')
      hasFailed = false
    } catch (error) {
      if (!isOutage(error)) reportOnce(error)
    }
    if (stopping.signal.aborted || deps.domainIds().size === 0) isRunning = false
    else timer = setTimeout(() => void poll(), pollMs).unref()
  }

  return {
    position: () => position,
    run(from) {
      if (isRunning || stopping.signal.aborted) return
      isRunning = true
      position = from
      void poll()
    },
    stop() {
      stopping.abort()
      clearTimeout(timer)
    },
  }
}

/** Replaces the events of a Domain that has too many of them: signing and sending each would cost more than reading again. */
function bounded(events: readonly DomainEvent[], upTo: bigint, nowMs: number): readonly DomainEvent[] {
  const counts = new Map<string, number>()
  for (const { domainId } of events) counts.set(domainId, (counts.get(domainId) ?? 0) + 1)
  const crowded = [...counts].filter(([, count]) => count > BATCH_EVENTS_MAX).map(([domainId]) => domainId)
  if (crowded.length === 0) return events
  const kept = events.filter(({ domainId }) => !crowded.includes(domainId))
  return [...kept, ...crowded.map((domainId) => resyncAt(domainId, upTo, nowMs))]
}
