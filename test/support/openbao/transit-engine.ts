import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { invalid, type Reply } from './engine.ts'

interface Version {
  readonly privateKey: KeyObject
  /** 32 bytes. */
  readonly publicKey: Buffer
}

interface Key {
  type: string
  derived: boolean
  exportable: boolean
  allowPlaintextBackup: boolean
  minEncryptionVersion: number
  minDecryptionVersion: number
  latest: number
  readonly versions: Map<number, Version>
}

/** How the engine misbehaves; change it at any time. */
export interface TransitFaults {
  /** Signs another text than the one that was given. */
  signsWrongly: boolean
  /** Signs with this version, whatever is asked for. */
  signsWith: number | undefined
  /** The error of the item at that index; undefined: it is signed. */
  itemError: ((index: number) => string | undefined) | undefined
  /** Leaves out the last signature of a batch. */
  isShort: boolean
}

/** Strings, keys and values, that OpenBao takes in a body by default. */
const STRINGS_MAX = 1_000

/** A Transit engine, by its documented API and the source of OpenBao (`builtin/logical/transit`). */
export class TransitEngine {
  readonly keys = new Map<string, Key>()
  readonly faults: TransitFaults = { signsWrongly: false, signsWith: undefined, itemError: undefined, isShort: false }
  /** Size of each batch that was signed. */
  readonly batches: number[] = []

  /** What exists already is left alone. */
  create(name: string, body: { readonly type?: string; readonly exportable?: boolean } = {}): Reply {
    if (!this.keys.has(name)) {
      const first = newVersion()
      this.keys.set(name, {
        type: body.type ?? 'aes256-gcm96',
        derived: false,
        exportable: body.exportable === true,
        allowPlaintextBackup: false,
        minEncryptionVersion: 0,
        minDecryptionVersion: 1,
        latest: 1,
        versions: new Map([[1, first]]),
      })
    }
    return this.read(name)
  }

  read(name: string): Reply {
    const key = this.keys.get(name)
    if (key === undefined) return { status: 404, body: { errors: [] } }
    const versions = [...key.versions].filter(([at]) => at >= key.minDecryptionVersion)
    const shown = versions.map(([at, { publicKey }]) => [
      String(at),
      key.type === 'ed25519'
        ? { name: 'ed25519', public_key: publicKey.toString('base64'), creation_time: '2026-01-01T00:00:00Z' }
        : 1_767_225_600,
    ])
    const data = {
      name,
      type: key.type,
      derived: key.derived,
      exportable: key.exportable,
      allow_plaintext_backup: key.allowPlaintextBackup,
      deletion_allowed: false,
      latest_version: key.latest,
      min_available_version: 0,
      min_decryption_version: key.minDecryptionVersion,
      min_encryption_version: key.minEncryptionVersion,
      supports_signing: key.type === 'ed25519',
      keys: Object.fromEntries(shown),
    }
    return { status: 200, body: { data } }
  }

  rotate(name: string): Reply {
    const key = this.keys.get(name)
    if (key === undefined) return invalid('key not found')
    key.latest += 1
    key.versions.set(key.latest, newVersion())
    return this.read(name)
  }

  sign(name: string, body: Readonly<Record<string, unknown>>): Reply {
    const key = this.keys.get(name)
    if (key === undefined) return invalid('signing key not found')
    if (key.type !== 'ed25519') return invalid(`key type ${key.type} does not support signing`)
    if (stringsIn(body) > STRINGS_MAX) return invalid('error parsing JSON: too many strings')
    const { batch_input: batch, key_version: asked = 0 } = body as {
      batch_input?: readonly { input: string }[]
      key_version?: number
    }
    if (batch === undefined || batch.length === 0) return invalid('missing batch input to process')
    this.batches.push(batch.length)
    const version = this.faults.signsWith ?? (asked === 0 ? key.latest : asked)
    const results = batch.map(({ input }, index) => this.#signed(key, { version, input, index }))
    return { status: 200, body: { data: { batch_results: this.faults.isShort ? results.slice(1) : results } } }
  }

  #signed(
    key: Key,
    { version, input, index }: { readonly version: number; readonly input: string; readonly index: number },
  ) {
    const error = this.faults.itemError?.(index) ?? versionFault(key, version)
    const pair = key.versions.get(version)
    if (error !== undefined || pair === undefined) return { error: error ?? 'no such version' }
    const bytes = Buffer.from(
      this.faults.signsWrongly ? Buffer.from('another text').toString('base64') : input,
      'base64',
    )
    const signature = sign(null, bytes, pair.privateKey).toString('base64')
    return { signature: `vault:v${version}:${signature}`, key_version: version }
  }
}

function versionFault({ latest, minEncryptionVersion }: Key, version: number): string | undefined {
  if (version > latest) return 'requested version for signing is higher than the latest key version'
  if (version < minEncryptionVersion)
    return 'requested version for signing is less than the minimum encryption key version'
  return undefined
}

function newVersion(): Version {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url') }
}

function stringsIn(value: unknown): number {
  if (typeof value === 'string') return 1
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + stringsIn(one), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, one) => sum + 1 + stringsIn(one), 0)
}
