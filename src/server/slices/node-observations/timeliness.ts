/** How far a node's clock may be from the server's, in ms, inclusive (S0 Limits). */
const SKEW_MAX_MS = 60_000

/** Why an observation is refused for its time: older than endpoints may be in the Domain, or made by a clock that is off. */
export type Untimely = 'stale' | 'skew'

/** Tells what is wrong with the instant of an observation (S0 Endpoint intake); undefined where nothing is. */
export function untimeliness(
  reportedAtMs: number,
  at: { readonly nowMs: number; readonly ttlMs: number },
): Untimely | undefined {
  const ageMs = at.nowMs - reportedAtMs
  if (ageMs > at.ttlMs) return 'stale'
  return Math.abs(ageMs) <= SKEW_MAX_MS ? undefined : 'skew'
}
