import type { Rate } from '../../ports/rates.ts'

/** Token buckets by key, all of one rate. */
export interface TokenBuckets {
  /** Takes one token. Returns 0 when there was one, else the ms until there is one; then nothing is taken. */
  take(key: string, nowMs: number): number
  /** Puts back a token that was reserved for an event that did not happen. */
  giveBack(key: string): void
}

/** Mutable on purpose: an admitted call allocates nothing. */
interface Bucket {
  tokens: number
  atMs: number
}

/**
 * Makes the buckets. Of all keys at most `keysMax` are remembered, in two halves: when the younger half is full it
 * becomes the older one, and keys that were not used there are dropped, which gives those keys a full bucket again.
 */
export function createTokenBuckets({ count, seconds }: Rate, keysMax: number): TokenBuckets {
  const halfMax = Math.max(1, Math.floor(keysMax / 2))
  const perMs = count / (seconds * 1000)
  let young = new Map<string, Bucket>()
  let old = new Map<string, Bucket>()

  function remember(key: string, nowMs: number): Bucket {
    const bucket = old.get(key) ?? { tokens: count, atMs: nowMs }
    if (young.size >= halfMax) {
      old = young
      young = new Map()
    }
    young.set(key, bucket)
    return bucket
  }

  return {
    take(key, nowMs) {
      const bucket = young.get(key) ?? remember(key, nowMs)
      // A clock that is set back neither refills nor drains a bucket.
      const elapsedMs = Math.max(0, nowMs - bucket.atMs)
      bucket.tokens = Math.min(count, bucket.tokens + elapsedMs * perMs)
      bucket.atMs = nowMs
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs)
      bucket.tokens -= 1
      return 0
    },
    giveBack(key) {
      const bucket = young.get(key) ?? old.get(key)
      if (bucket !== undefined) bucket.tokens = Math.min(count, bucket.tokens + 1)
    },
  }
}
