import { masterKeyOf, readMasterKey, readNextKey } from '../../adapters/keyring/master-key.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { MasterKeySource } from '../../ports/master-key-source.ts'
import type { BackupHead, SealedSecrets } from '../archive/format.ts'
import type { KeyAtHand } from './key-check.ts'

/**
 * Finds the master key of a backup: the one in its file where that was opened, else the configured one. Never makes one.
 */
export function keyAtHand(source: MasterKeySource, head: BackupHead, secrets: SealedSecrets | undefined): KeyAtHand {
  const { fingerprint, included } = head.master_key
  if (fingerprint === null) return { skipped: 'Nothing is sealed in the backup.' }
  if (secrets !== undefined) return masterKeyOf(Buffer.from(secrets.master_key, 'base64'))
  const fitting = configured(source).find((key) => key?.id === fingerprint)
  if (fitting !== undefined) return fitting
  const way = included ? ' or --passphrase-file for the one in the backup' : ''
  return { skipped: `The master key ${fingerprint} is not here: give it with --master-key-file${way}.` }
}

/** A key that cannot be read is as one that is not there: only its check needs it. */
function configured(source: MasterKeySource) {
  try {
    return [readMasterKey(source), readNextKey(source)]
  } catch (error) {
    if (error instanceof BootError) return []
    throw error
  }
}
