/** Time for the ways to peers. */
export interface PathClock {
  /** The clock of the machine, by which the device dates its handshakes: milliseconds since the Unix epoch. It may be set. */
  readonly now: () => number
  /** Milliseconds since some instant. It is never set, so that it measures how long something takes. */
  readonly steady: () => number
}
