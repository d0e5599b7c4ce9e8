const NS_PER_MS = 1_000_000n

/** The instant of a new preshared key in ns since the epoch: later than the key it replaces, whatever the clock did (decisions: Keys). */
export function nextPskIssuedAt(nowMs: number, previousNs: bigint | undefined): bigint {
  const now = BigInt(Math.trunc(nowMs)) * NS_PER_MS
  return previousNs === undefined || now > previousNs ? now : previousNs + 1n
}
