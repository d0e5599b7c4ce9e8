/** The event stream of an agent. */
export interface HeldStream {
  /**
   * Resolves when the first try has opened the stream, or was refused or failed. The stream is tried again by itself: what waits
   * for it goes on without it.
   */
  readonly firstTry: Promise<void>
  /** The number and the instant of the last event, and the position after which the stream resumes. */
  progress(): StreamProgress
  /**
   * Counts the events that the server has and the stream did not deliver. Waits for missing ones until the signal is
   * aborted.
   */
  confirm(until: AbortSignal): Promise<void>
  isOpen(): boolean
  /** Breaks the connection, as a network failure does. The stream reconnects. */
  cut(): void
  /** Delays the handling of each further frame by `ms`. */
  slowDown(ms: number): void
  stop(): Promise<void>
}

export interface StreamProgress {
  readonly last_event_id: string
  readonly last_node_seq: number
  /** When the newest event occurred, RFC 3339; absent before the first event. */
  readonly last_occurred_at?: string
}
