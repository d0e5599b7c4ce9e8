import type { Datastore } from '../../ports/datastore.ts'
import type { FeedFollowers } from './feed-followers.ts'
import { type HeadAndChanges, readChanges } from './feed-queries.ts'

/** How long a confirmed head is valid, measured from the moment before its query was sent (decisions: Consistency). */
const LEASE_MS = 1_000
const REVISIONS_PER_READ = 1_000

/** Reads the head and passes new changes to the followers. */
export interface HeadReader {
  /** Reads until nothing new is left. @throws what the datastore threw. */
  catchUp(): Promise<void>
  /** Whether the head was confirmed within the last second and the followers had applied it. */
  isLeased(): boolean
}

interface HeadReaderDeps {
  readonly datastore: Datastore
  readonly followers: FeedFollowers
  readonly monotonicMs: () => number
}

/** Whether the changes continue from the applied revision: no revision is missing, and the head did not go back. */
function continues({ head, byRevision }: HeadAndChanges, from: bigint): boolean {
  if (head < from) return false
  const end = from + BigInt(REVISIONS_PER_READ)
  return BigInt(byRevision.size) === (head < end ? head : end) - from
}

export function createHeadReader({ datastore, followers, monotonicMs }: HeadReaderDeps): HeadReader {
  const { log } = followers
  let leaseEndMs = Number.NEGATIVE_INFINITY

  /** Resolves with whether more changes must be read. */
  async function read(): Promise<boolean> {
    const sentAtMs = monotonicMs()
    const from = log.revision()
    const loads = followers.loads()
    const found = await readChanges(datastore.pool('change-feed'), from, REVISIONS_PER_READ)
    if (loads !== followers.loads()) return true
    if (!continues(found, from)) {
      followers.distrust(`the changes from revision ${from} to ${found.head} are not all there`)
      return false
    }
    for (const [revision, changes] of found.byRevision) log.offer(revision, changes)
    followers.advance()
    if (!followers.isLoaded()) return false
    if (log.revision() < found.head) return true
    leaseEndMs = Math.max(leaseEndMs, sentAtMs + LEASE_MS)
    return false
  }

  return {
    async catchUp() {
      await followers.ensureLoaded()
      while (await read());
    },
    isLeased: () => monotonicMs() < leaseEndMs,
  }
}
