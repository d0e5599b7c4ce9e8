const NS_PER_MS = 1_000_000n
const NS_PER_SECOND = 1_000_000_000n

/** The instant of a new preshared key in ns since the epoch: later than the key it replaces, whatever the clock did (decisions: Keys). */
export function nextPskIssuedAt(nowMs: number, previousNs: bigint | undefined): bigint {
  const now = BigInt(Math.trunc(nowMs)) * NS_PER_MS
  return previousNs === undefined || now > previousNs ? now : previousNs + 1n
}

/** UTC with nine fractional digits and `Z`, of fixed width up to the year 9999 (S0: the halves of an edge's epoch). */
export function formatPskIssuedAt(ns: bigint): string {
  const seconds = new Date(Number(ns / NS_PER_MS)).toISOString().slice(0, 19)
  return `${seconds}.${(ns % NS_PER_SECOND).toString().padStart(9, '0')}Z`
}
