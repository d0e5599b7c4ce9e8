/**
 * The SHA-256 of a certificate as 64 lower-case hex digits. Capitals and the colons of `openssl x509 -fingerprint` are
 * taken too; undefined for any other text.
 */
export function pinnedDigest(text: string): string | undefined {
  const digest = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(digest) ? digest : undefined
}
