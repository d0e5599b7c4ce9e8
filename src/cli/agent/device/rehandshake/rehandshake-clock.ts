/** Time and randomness, replaceable in tests. */
export interface RehandshakeClock {
  /** Unix time in milliseconds. */
  now(): number
  /** In [0, 1). */
  random(): number
}
