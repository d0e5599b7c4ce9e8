/** How much may be spent. */
export interface BucketSize {
  /** At once, after a pause. */
  readonly burst: number
  readonly perSecond: number
}

/** Tokens that come back with time. */
export interface TokenBucket {
  /** Takes that many, where there are so many. */
  take(count: number): boolean
}

/** Makes a full one. `now`: milliseconds. */
export function createTokenBucket({ burst, perSecond }: BucketSize, now: () => number): TokenBucket {
  let [tokens, filledMs] = [burst, now()]
  return {
    take(count) {
      const nowMs = now()
      tokens = Math.min(burst, tokens + (Math.max(0, nowMs - filledMs) * perSecond) / 1000)
      filledMs = nowMs
      if (tokens < count) return false
      tokens -= count
      return true
    },
  }
}
