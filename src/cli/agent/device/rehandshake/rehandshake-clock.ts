/** Time and randomness, replaceable in tests. */
export interface RehandshakeClock {
  /** Unix time in milliseconds, to compare with the instants of handshakes. */
  now(): number
  /** Milliseconds of a clock that is never set, for intervals. */
  steady(): number
  /** In [0, 1). */
  random(): number
}
