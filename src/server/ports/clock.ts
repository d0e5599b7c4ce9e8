/** The time, so that tests can freeze it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/** Source of ids: UUIDv7 strings, strictly increasing within one process. */
export interface IdSource {
  next(): string
}
