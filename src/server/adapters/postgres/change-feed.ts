import type { ApplyChange, ChangeFeed, FeedChange, Reload } from '../../ports/change-feed.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createFeedLog } from './feed-log.ts'
import { type HeadAndChanges, readChanges, readSnapshot } from './feed-queries.ts'

export interface ChangeFeedOptions {
  readonly datastore: Datastore
  /** Hears of polls that failed and of why the followers were reloaded. */
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
  /** Takes the changes of a transaction that this process has just committed, all of one revision. */
  committed(changes: readonly FeedChange[]): void
}

/** How long a confirmed head counts, from before the confirming query was sent (decisions: Consistency). */
const LEASE_MS = 1_000
const POLL_INTERVAL_MS = 200
const REVISIONS_PER_READ = 1_000
/** Own commits held back at most while a revision before them is missing; those beyond are read from the datastore. */
const HELD_BACK_MAX = 1_000
/** Reads on their way at most: one that hangs on a dead connection must not keep the next from trying another. */
const READS_MAX = 3

/**
 * Follows `authz_head`. On PostgreSQL by polling; a commit of this process is applied straight from memory when it is the
 * next revision. On the embedded store this process makes every commit, so that nothing is polled.
 */
export function createChangeFeed(options: ChangeFeedOptions): FollowedFeed {
  const { datastore, warn, monotonicMs = () => performance.now(), pollIntervalMs = POLL_INTERVAL_MS } = options
  const isEmbedded = datastore.kind === 'embedded'
  const followers: ApplyChange[] = []
  const reloads: Reload[] = []
  const log = createFeedLog(followers)
  let leaseEndMs = Number.NEGATIVE_INFINITY
  let isLoaded = false
  let isRunning = false
  let loading: Promise<void> | undefined
  let reads = 0
  let timer: NodeJS.Timeout | undefined

  /** Applies what can be applied. A follower that fails is rebuilt: from then on it is not to be trusted. */
  function advance(): void {
    try {
      log.advance()
    } catch (error) {
      distrust('a follower of the change feed failed', error)
    }
  }

  function distrust(message: string, cause?: unknown): void {
    isLoaded = false
    leaseEndMs = Number.NEGATIVE_INFINITY
    warn(`${message}; reloading what follows it`, cause)
  }

  async function load(): Promise<void> {
    const revision = await readSnapshot(datastore, async (snapshot, at) => {
      for (const reload of reloads) await reload(snapshot, at)
    })
    log.jumpTo(revision)
    isLoaded = true
    advance()
  }

  /** Loads unless it is being done already: two loads at once would mix two snapshots. */
  function ensureLoaded(): Promise<void> {
    if (isLoaded) return Promise.resolve()
    loading ??= load().finally(() => {
      loading = undefined
    })
    return loading
  }

  /** Whether what was read continues what was applied when the question was sent. */
  function continues({ head, byRevision }: HeadAndChanges, from: bigint): boolean {
    if (head < from) return false
    const last = head < from + BigInt(REVISIONS_PER_READ) ? head : from + BigInt(REVISIONS_PER_READ)
    return BigInt(byRevision.size) === last - from
  }

  /** One read of the head. Resolves with whether more is left to be read. */
  async function read(): Promise<boolean> {
    const sentAtMs = monotonicMs()
    const from = log.revision()
    const found = await readChanges(datastore.pool('worker'), from, REVISIONS_PER_READ)
    if (!isLoaded) return false
    if (!continues(found, from)) {
      distrust(`the changes from revision ${from} to ${found.head} are not all there`)
      return false
    }
    for (const [revision, changes] of found.byRevision) log.offer(revision, changes)
    advance()
    if (!isLoaded) return false
    if (log.revision() < found.head) return true
    leaseEndMs = Math.max(leaseEndMs, sentAtMs + LEASE_MS)
    return false
  }

  async function catchUp(): Promise<void> {
    await ensureLoaded()
    while (await read());
  }

  /** Catches up in the background. */
  function poke(): void {
    if (!isRunning || reads >= READS_MAX) return
    reads += 1
    catchUp()
      .catch((error: unknown) => warn('the change feed could not be read', error))
      .finally(() => {
        reads -= 1
      })
  }

  /** On the embedded store there is something to do only when a reload is due: commits bring their own changes. */
  function tick(): void {
    if (!isEmbedded || !isLoaded) poke()
    timer = setTimeout(tick, pollIntervalMs)
  }

  return {
    isFresh: () => isLoaded && isRunning && (isEmbedded || monotonicMs() < leaseEndMs),
    revision: () => log.revision(),
    async waitFor(revision, deadlineMs) {
      if (revision > log.revision()) poke()
      await log.waitFor(revision, deadlineMs)
    },
    subscribe(apply, reload) {
      if (isRunning) throw new Error('subscribe before the change feed is started')
      followers.push(apply)
      if (reload !== undefined) reloads.push(reload)
    },
    async start() {
      isRunning = true
      await catchUp()
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
      if (isLoaded) advance()
      if (log.heldBack() > 0) poke()
    },
  }
}
