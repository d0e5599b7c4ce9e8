/** Time and randomness of agents. */
export interface AgentClock {
  /** Milliseconds since the Unix epoch; agents report it as their own clock. */
  now(): number
  /** In [0, 1). */
  random(): number
  /** Resolves after `ms`, or when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** The longest time of a timer of Node.js, some 24 days. A longer one, such as a server may ask for, would end at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1
