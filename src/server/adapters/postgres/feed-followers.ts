import type { ApplyChange, Reload } from '../../ports/change-feed.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { createFeedLog, type FeedLog } from './feed-log.ts'
import { readSnapshot } from './feed-queries.ts'

/** The followers of the feed, and their position. */
export interface FeedFollowers {
  readonly log: FeedLog
  subscribe(apply: ApplyChange, reload: Reload | undefined): void
  /** Whether they are loaded and have applied every change since. */
  isLoaded(): boolean
  /** Number of loads so far. Changes that were read before the last load belong to another sequence of revisions. */
  loads(): number
  /** Loads all followers from one snapshot, unless they are loaded. @throws what the datastore or a follower threw. */
  ensureLoaded(): Promise<void>
  /**
   * Applies the contiguous changes of the log. A follower that throws is inconsistent: all followers are then reloaded.
   */
  advance(): void
  /** Marks them as inconsistent, so that they are reloaded. Logs it once. */
  distrust(message: string, cause?: unknown): void
}

export interface FeedFollowersDeps {
  readonly datastore: Datastore
  readonly warn: (message: string, cause?: unknown) => void
}

export function createFeedFollowers({ datastore, warn }: FeedFollowersDeps): FeedFollowers {
  const followers: ApplyChange[] = []
  const reloads: Reload[] = []
  const log = createFeedLog(followers)
  let isLoaded = false
  let loads = 0
  let loading: Promise<void> | undefined

  function distrust(message: string, cause?: unknown): void {
    if (!isLoaded) return
    isLoaded = false
    warn(`${message}; the followers of the change feed are reloaded`, cause)
  }

  function advance(): void {
    if (!isLoaded) return
    try {
      log.advance()
    } catch (error) {
      distrust('a follower could not apply a change', error)
    }
  }

  async function load(): Promise<void> {
    const revision = await readSnapshot(datastore, async (snapshot, at) => {
      for (const reload of reloads) await reload(snapshot, at)
    })
    log.jumpTo(revision)
    loads += 1
    isLoaded = true
    advance()
  }

  return {
    log,
    subscribe(apply, reload) {
      followers.push(apply)
      if (reload !== undefined) reloads.push(reload)
    },
    isLoaded: () => isLoaded,
    loads: () => loads,
    async ensureLoaded() {
      if (isLoaded) return
      // Two loads at once would mix two snapshots.
      loading ??= load().finally(() => {
        loading = undefined
      })
      await loading
    },
    advance,
    distrust,
  }
}
