/** How far a node's clock may be from the server's, in ms, inclusive (S0 Limits). */
const SKEW_MAX_MS = 60_000

/** Why an observation is refused for its time: it is older than the Domain's endpoint TTL, or the node's clock is wrong. */
export type Untimeliness = 'stale' | 'skew'

/** Checks the instant of an observation (S0 Endpoint intake); undefined where it is acceptable. */
export function untimeliness(
  reportedAtMs: number,
  at: { readonly nowMs: number; readonly ttlMs: number },
): Untimeliness | undefined {
  const ageMs = at.nowMs - reportedAtMs
  if (ageMs > at.ttlMs) return 'stale'
  return Math.abs(ageMs) <= SKEW_MAX_MS ? undefined : 'skew'
}
