import type { SealingKey } from './keyring.ts'
import type { MasterKeySource } from './master-key-source.ts'

/** Master keys as they are known without the keyring that they wrap. */
export interface MasterKeys {
  /** The key by its 32 bytes. */
  keyOf(bytes: Buffer): SealingKey
  /** Reads the configured key; undefined where there is none yet. Never makes one. @throws BootError where its file holds none */
  read(source: MasterKeySource): SealingKey | undefined
  /** Reads the key that a rotation left beside it; undefined where there is none. @throws BootError likewise */
  readNext(source: MasterKeySource): SealingKey | undefined
}
