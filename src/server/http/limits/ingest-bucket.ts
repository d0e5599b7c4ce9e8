/** How much a bucket holds: what the rate lets through in so many ms. */
const BURST_MS = 5_000

/** The longest wait for a body, ms. It bounds what one body that is larger than the bucket can owe. */
const WAIT_MS_MAX = 60_000
const DEBT_MS_MAX = WAIT_MS_MAX - BURST_MS

/** Rounding errors of the arithmetic, far below the clock's millisecond. */
const TOLERANCE_MS = 1e-6

/**
 * Bytes of one Domain on one replica. What is left is kept as time, as ms of the rate: another target takes effect with the next
 * body, and the bucket stays as full as it was. Mutable on purpose: a body allocates nothing.
 */
export class IngestBucket {
  #leftMs = BURST_MS
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  /**
   * Takes the bytes. Gives 0, or the ms until they fit; then nothing is taken. Bytes beyond the whole bucket fit once it is full,
   * and are owed.
   */
  take(bytes: number, bytesPerSecond: number, nowMs: number): number {
    const costMs = (bytes * 1000) / bytesPerSecond
    const waitMs = Math.min(costMs, BURST_MS) - this.#refill(nowMs)
    if (waitMs > TOLERANCE_MS) return waitMs
    this.#leftMs = Math.max(-DEBT_MS_MAX, this.#leftMs - costMs)
    return 0
  }

  /** Takes bytes that are let through in any case. They owe one bucket at most: others are not refused for long because of them. */
  charge(bytes: number, bytesPerSecond: number, nowMs: number): void {
    const leftMs = this.#refill(nowMs)
    const chargedMs = Math.max(-BURST_MS, leftMs - (bytes * 1000) / bytesPerSecond)
    this.#leftMs = Math.min(leftMs, chargedMs)
  }

  /** A clock that is set back neither refills nor drains it. */
  #refill(nowMs: number): number {
    this.#leftMs = Math.min(BURST_MS, this.#leftMs + Math.max(0, nowMs - this.#atMs))
    this.#atMs = nowMs
    return this.#leftMs
  }
}
