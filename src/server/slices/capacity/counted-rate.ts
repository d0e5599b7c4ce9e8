/** The shared total of a dimension, and when it was read on the monotonic clock. */
export interface Reading {
  readonly total: bigint
  readonly atMs: number
}

/** A rate per second, with the reading that the next one is measured from. */
export interface CountedRate extends Reading {
  readonly perSecond: number
  /** Whether it lies between two readings: the first one is 0 for want of another. */
  readonly isMeasured: boolean
}

/**
 * The rate since the previous reading. A total that has fallen is one of a backup that was put back, and begins again. Without time
 * between the two readings the previous one stays, so that no rate is infinite.
 */
export function nextRate(previous: CountedRate | undefined, reading: Reading): CountedRate {
  if (previous === undefined || reading.total < previous.total) return { ...reading, perSecond: 0, isMeasured: false }
  const seconds = (reading.atMs - previous.atMs) / 1000
  if (seconds <= 0) return previous
  return { ...reading, perSecond: Number(reading.total - previous.total) / seconds, isMeasured: true }
}
