import { LRUCache } from 'lru-cache'
import { RateLimited } from '../../http/limits/rate-limits.ts'

/** Wrong codes of one session in a minute (decisions: Device flow). */
export const WRONG_CODES_MAX = 5
const WINDOW_MS = 60_000
/** Sessions that are counted; beyond that, those longest without a wrong code are dropped. */
const SESSIONS_MAX = 10_000

/** Limits guesses of codes. A try is counted before the code is looked up, so that concurrent tries cannot exceed the limit. */
export interface WrongCodes {
  /** Counts a try of the session. The returned function takes the count back, for a correct code. @throws RateLimited after five wrong ones. */
  count(sessionId: string, nowMs: number): () => void
}

/** Makes the limit, per replica. */
export function createWrongCodes(): WrongCodes {
  /** Instants of the tries of the last minute, oldest first. */
  const tries = new LRUCache<string, readonly number[]>({ max: SESSIONS_MAX })

  function recent(sessionId: string, nowMs: number): readonly number[] {
    return (tries.peek(sessionId) ?? []).filter((at) => at > nowMs - WINDOW_MS)
  }

  function keep(sessionId: string, times: readonly number[]): void {
    if (times.length > 0) tries.set(sessionId, times)
    else tries.delete(sessionId)
  }

  return {
    count(sessionId, nowMs) {
      const times = recent(sessionId, nowMs)
      const [first = nowMs] = times
      if (times.length >= WRONG_CODES_MAX) throw tooMany(first + WINDOW_MS - nowMs)
      keep(sessionId, [...times, nowMs])
      return () => {
        const counted = tries.peek(sessionId) ?? []
        const at = counted.indexOf(nowMs)
        keep(
          sessionId,
          counted.filter((_, index) => index !== at),
        )
      }
    },
  }
}

function tooMany(waitMs: number): RateLimited {
  const rate = { count: WRONG_CODES_MAX, seconds: WINDOW_MS / 1000 }
  return new RateLimited({ code: 'rate_limited', policy: 'wrong-codes' }, rate, waitMs)
}
