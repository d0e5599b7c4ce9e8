import { problem } from '../../../shared/problems.ts'
import type { ApplyChange, FeedChange } from '../../ports/change-feed.ts'

/**
 * The position of this process in the sequence of revisions. Accepts revisions in any order and from any source, and
 * applies them in ascending order.
 */
export interface FeedLog {
  revision(): bigint
  /** Adds the changes of one revision. Ignores revisions that are applied already. */
  offer(revision: bigint, changes: readonly FeedChange[]): void
  /** Applies the contiguous revisions. @throws what a follower threw; the position then stays before that revision. */
  advance(): void
  /** Continues from the revision at which the followers were loaded. */
  jumpTo(revision: bigint): void
  /** Number of revisions that wait for an earlier, missing one. */
  heldBack(): number
  waitFor(revision: bigint, deadlineMs: number): Promise<void>
}

interface Waiter {
  readonly revision: bigint
  readonly resolve: () => void
}

export function createFeedLog(followers: readonly ApplyChange[]): FeedLog {
  const held = new Map<bigint, readonly FeedChange[]>()
  const waiters = new Set<Waiter>()
  let applied = -1n

  function wake(): void {
    for (const waiter of waiters) if (waiter.revision <= applied) waiter.resolve()
  }

  return {
    revision: () => applied,
    offer(revision, changes) {
      if (revision > applied) held.set(revision, changes)
    },
    advance() {
      for (let next = held.get(applied + 1n); next !== undefined; next = held.get(applied + 1n)) {
        for (const change of next) for (const apply of followers) apply(change)
        applied += 1n
        held.delete(applied)
      }
      wake()
    },
    jumpTo(revision) {
      applied = revision
      for (const each of held.keys()) if (each <= revision) held.delete(each)
      wake()
    },
    heldBack: () => held.size,
    waitFor(revision, deadlineMs) {
      if (revision <= applied) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(waiter)
          const cause = new Error(`revision ${revision} was not applied within ${deadlineMs} ms; at ${applied}`)
          reject(problem('authz_unavailable', {}, cause))
        }, deadlineMs)
        const waiter: Waiter = {
          revision,
          resolve: () => {
            clearTimeout(timer)
            waiters.delete(waiter)
            resolve()
          },
        }
        waiters.add(waiter)
      })
    },
  }
}
