/** A session of WireGuard ends at this age of its handshake. */
const SESSION_MS = 180_000

/** Whether the device has a session with a peer, by the instant of its last handshake. */
export function hasSession(
  { latestHandshakeMs }: { readonly latestHandshakeMs: number | undefined },
  nowMs: number,
): boolean {
  return latestHandshakeMs !== undefined && nowMs - latestHandshakeMs < SESSION_MS
}
