import type { MasterKeySource } from '../../ports/master-key-source.ts'
import { fittingKey } from './open-keyring.ts'
import { wrappedUnder, type KeyringRow } from './stored-ring.ts'

/** Rows of the keyring as the driver gives them. */
type StoredRows = readonly Readonly<Record<string, unknown>>[]

/** Secrets that a backup has only where its operator asks for them. */
interface BackupSecrets {
  readonly master_key: string
  readonly tls_authority?: string
}

/**
 * The master key of a backup: proven against the keyring that is in that backup.
 *
 * @param readAuthority the authority of `--tls-self-signed`; undefined without one
 */
export function createBackupKeys(source: MasterKeySource, readAuthority: () => string | undefined) {
  return {
    fingerprint: (rows: StoredRows): string | null => (rows.length === 0 ? null : wrappedUnder(keyringRows(rows)[0])),
    /** @throws BootError where the configured key does not wrap these rows. */
    secrets(rows: StoredRows): BackupSecrets {
      const { key } = fittingKey(source, keyringRows(rows))
      const authority = readAuthority()
      return {
        master_key: key.secret.export().toString('base64'),
        ...(authority === undefined ? {} : { tls_authority: authority }),
      }
    },
  }
}

/** The columns are those of the table; the driver gives bytes and times as the stores have them. */
const keyringRows = (rows: StoredRows): readonly KeyringRow[] => rows as unknown as readonly KeyringRow[]
