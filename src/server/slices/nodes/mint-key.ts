import { mintNsk } from '../../../shared/credential-formats.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { NewSecretKey } from './secret-key-store.ts'

export interface MintedKey {
  /** The key as the node presents it; leaves the server once. */
  readonly nsk: string
  /** The stored form of it. */
  readonly key: NewSecretKey
}

export type MintKey = (nodeId: string, nowMs: number) => MintedKey

/** Makes node secret keys of one installation. */
export function createKeyMint({ env, keyring }: { readonly env: string; readonly keyring: Keyring }): MintKey {
  return (nodeId, nowMs) => {
    const { nsk, kid } = mintNsk(env, nodeId)
    const { keyId, mac } = keyring.mac('fingerprint', nsk)
    return { nsk, key: { nodeId, kid, fingerprint: mac, fingerprintKeyId: keyId, createdAtMs: nowMs } }
  }
}
