/** The stream that an agent holds. */
export interface HeldStream {
  /** Resolves once it has been open, or has ended without. */
  readonly opened: Promise<void>
  /** The last number seen and the position after which it would be resumed. */
  progress(): StreamProgress
  /** Finds out whether the stream has brought all that the server has; waits for the rest until the signal. */
  confirm(until: AbortSignal): Promise<void>
  isOpen(): boolean
  /** Breaks the connection, as a network does; another one follows. */
  cut(): void
  /** Takes so many ms over each frame from now on. */
  slowDown(ms: number): void
  stop(): Promise<void>
}

export interface StreamProgress {
  readonly last_event_id: string
  readonly last_node_seq: number
}
