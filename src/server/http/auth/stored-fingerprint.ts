import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../ports/keyring.ts'

/** What is stored of a credential instead of its text. */
export interface StoredFingerprint {
  readonly fingerprint: Buffer
  readonly fingerprint_key_id: string
}

/** Whether the presented text is the stored credential's, in constant time. The id in the text only locates the row. */
export function isFingerprintOf(
  keyring: Pick<Keyring, 'macWith'>,
  presented: string,
  { fingerprint, fingerprint_key_id: keyId }: StoredFingerprint,
): boolean {
  const mac = keyring.macWith('fingerprint', keyId, presented)
  return mac !== undefined && mac.length === fingerprint.length && timingSafeEqual(mac, fingerprint)
}
