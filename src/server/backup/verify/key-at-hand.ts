import { BootError } from '../../ports/boot-error.ts'
import type { SealingKey } from '../../ports/keyring.ts'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import type { MasterKeys } from '../../ports/master-keys.ts'
import type { BackupHead, SealedSecrets } from '../archive/format.ts'
import type { Skipped } from './checks.ts'

/** The master key of a backup; or why there is none. */
export type KeyAtHand = SealingKey | Skipped

/** Where the master key of a backup may be. */
export interface KeyPlaces {
  readonly source: MasterKeySource
  readonly head: BackupHead
  /** What the backup itself contains; undefined where that was not opened. */
  readonly secrets: SealedSecrets | undefined
}

/**
 * Finds the master key of a backup: the one in its file where that was opened, else the configured one. Never makes one.
 */
export function keyAtHand(keys: MasterKeys, { source, head, secrets }: KeyPlaces): KeyAtHand {
  const { fingerprint, included } = head.master_key
  if (fingerprint === null) return { skipped: 'Nothing is sealed in the backup.' }
  if (secrets !== undefined) return keys.keyOf(Buffer.from(secrets.master_key, 'base64'))
  const fitting = configured(keys, source).find((key) => key?.id === fingerprint)
  if (fitting !== undefined) return fitting
  const way = included ? ' or --passphrase-file for the one in the backup' : ''
  return { skipped: `The master key ${fingerprint} is not here: give it with --master-key-file${way}.` }
}

/** A key that cannot be read is as one that is not there: only its check needs it. */
function configured(keys: MasterKeys, source: MasterKeySource) {
  try {
    return [keys.read(source), keys.readNext(source)]
  } catch (error) {
    if (error instanceof BootError) return []
    throw error
  }
}
