/** Files that new event streams leave free at least. */
const STREAM_RESERVE_MIN = 64
/** The share of all files that they leave free on top of what the server may need: calls of nodes that have a stream use it. */
const CALLS_SHARE = 0.05

/** How many of the files that a process may have open are kept free. */
export interface FileReserve {
  /** From here on no event stream is opened. */
  readonly forStreams: number
  /** From here on no connection is accepted. Smaller. */
  readonly forConnections: number
}

/**
 * Divides the files of a process.
 *
 * @param max how many it may have open at once
 * @param own how many the server may open for itself: connections to its dependencies, files, health checks. Where the limit
 * is low it gets a quarter of them, and streams leave half of them free.
 */
export function fileReserveOf(max: number, own: number): FileReserve {
  const forStreams = Math.max(STREAM_RESERVE_MIN, own + Math.ceil(max * CALLS_SHARE))
  return {
    forStreams: Math.min(forStreams, Math.floor(max / 2)),
    forConnections: Math.min(own, Math.floor(max / 4)),
  }
}
