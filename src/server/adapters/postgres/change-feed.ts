import { AsyncResource } from 'node:async_hooks'
import type { ChangeFeed, FeedChange } from '../../ports/change-feed.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createFeedFollowers } from './feed-followers.ts'
import { createHeadReader } from './head-reader.ts'
import { createLeaseWait } from './lease-wait.ts'

export interface ChangeFeedOptions {
  readonly datastore: Datastore
  /** Called with failed reads and with the reason of a reload of the followers. */
  readonly warn: (message: string, cause?: unknown) => void
  /** Milliseconds on a clock that never goes back. Default `performance.now`. */
  readonly monotonicMs?: () => number
  /** Default 200. */
  readonly pollIntervalMs?: number
}

/** The feed together with what its owner and the unit of work need. */
export interface FollowedFeed extends ChangeFeed {
  /** Loads every follower from one snapshot, then follows. @throws what the datastore or a follower threw. */
  start(): Promise<void>
  stop(): void
  /** Receives the changes of a transaction that this process has just committed. All have the same revision. */
  committed(changes: readonly FeedChange[]): void
}

const POLL_INTERVAL_MS = 200
/** Maximum of own commits that are buffered while an earlier revision is missing; others are read from the datastore. */
const HELD_BACK_MAX = 1_000
/** Maximum of concurrent reads: one that hangs on a dead connection must not block the next. */
const READS_MAX = 3
const SAY_EVERY_MS = 60_000

/**
 * Follows `authz_head`. On PostgreSQL it polls; it applies a commit of this process from memory if that commit is the
 * next revision. On the embedded store this process makes every commit, so nothing is polled.
 */
export function createChangeFeed(options: ChangeFeedOptions): FollowedFeed {
  const { datastore, warn, monotonicMs = () => performance.now(), pollIntervalMs = POLL_INTERVAL_MS } = options
  const isEmbedded = datastore.kind === 'embedded'
  const followers = createFeedFollowers({ datastore, warn })
  const { log } = followers
  const head = createHeadReader({ datastore, followers, monotonicMs })
  const lease = createLeaseWait(monotonicMs)
  let isRunning = false
  let reads = 0
  let timer: NodeJS.Timeout | undefined
  let saidMs: number | undefined

  const isFresh = (): boolean => isRunning && followers.isLoaded() && (isEmbedded || head.isLeased())

  /** Catches up in the background, outside of the transaction that may be waiting for it. */
  const poke = AsyncResource.bind(() => {
    if (!isRunning || reads >= READS_MAX) return
    reads += 1
    head
      .catchUp()
      .then(() => {
        saidMs = undefined
        if (isFresh()) lease.renewed()
      }, complain)
      .finally(() => {
        reads -= 1
      })
  })

  /** Logs the first failure, then one a minute: the feed is read five times a second. */
  function complain(error: unknown): void {
    lease.failed()
    if (!isRunning || (saidMs !== undefined && monotonicMs() - saidMs < SAY_EVERY_MS)) return
    saidMs = monotonicMs()
    warn('the change feed could not be read', error)
  }

  /** The embedded store needs a read only to load the followers: commits deliver their own changes. */
  function tick(): void {
    if (!isEmbedded || !followers.isLoaded()) poke()
    timer = setTimeout(tick, pollIntervalMs)
  }

  return {
    isFresh,
    untilFresh() {
      if (!isRunning || isFresh()) return Promise.resolve(isRunning)
      poke()
      return lease.until()
    },
    revision: () => log.revision(),
    async waitFor(revision, deadlineMs) {
      if (revision > log.revision()) poke()
      await log.waitFor(revision, deadlineMs)
    },
    subscribe(apply, reload) {
      if (isRunning) throw new Error('subscribe before the change feed is started')
      followers.subscribe(apply, reload)
    },
    async start() {
      isRunning = true
      await head.catchUp()
      timer = setTimeout(tick, pollIntervalMs)
    },
    stop() {
      isRunning = false
      clearTimeout(timer)
    },
    committed(changes) {
      const [first] = changes
      if (first === undefined) return
      if (log.heldBack() < HELD_BACK_MAX) log.offer(first.revision, changes)
      followers.advance()
      if (log.heldBack() > 0) poke()
    },
  }
}
