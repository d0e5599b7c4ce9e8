/** Rate limits of the simulator on two cores that it shares with a server. */
const PULLS_PER_SECOND = 500
const PULLED_BYTES_PER_SECOND = 150 * 1024 * 1024
const PEER_BYTES = 280

/** Pulls per second of all agents of a process, in Domains of that number of nodes. */
export function pullsPerSecond(size: number): number {
  return Math.min(PULLS_PER_SECOND, PULLED_BYTES_PER_SECOND / (PEER_BYTES * size))
}
