/** Time and randomness of agents. */
export interface AgentClock {
  /** Milliseconds since the Unix epoch; agents report it as their own clock. */
  now(): number
  /** In [0, 1). */
  random(): number
  /** Resolves after `ms`, or when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}
