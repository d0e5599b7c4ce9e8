import { isIP } from 'node:net'
import { isKey, keyOfBase64, publicKeyOf, unlessZero } from '../../../device/keys.ts'
import { isUsableHost } from '../../../endpoints/endpoint-address.ts'

/** What the secret of a WireGuard tunnel has. It is never part of an error or of a log. */
export interface SiteSecret {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** In base64. */
  readonly peerPublicKey: string
  /** 32 bytes. */
  readonly presharedKey: Uint8Array | undefined
  /** 0: any port. */
  readonly listenPort: number
  /** The address of this end in the tunnel. */
  readonly address: string | undefined
}

const MEMBERS: ReadonlySet<string> = new Set([
  'private_key',
  'peer_public_key',
  'preshared_key',
  'listen_port',
  'address',
])
const BYTES_MAX = 4096
const PORT_MAX = 65_535

/** Reads the secret of a WireGuard tunnel, or resolves with what is wrong with it: a sentence that has no part of it. */
export function readSiteSecret(bytes: Uint8Array): SiteSecret | string {
  const members = membersOf(bytes)
  if (members === undefined) return 'the secret is not a JSON object with private_key and peer_public_key'
  if (Object.keys(members).some((name) => !MEMBERS.has(name)))
    return `the secret has a member that is none of ${[...MEMBERS].join(', ')}`
  return readKeys(members)
}

type Members = Readonly<Record<string, unknown>>

function membersOf(bytes: Uint8Array): Members | undefined {
  if (bytes.byteLength > BYTES_MAX) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
  } catch {
    // The message of the parser quotes the text.
    return undefined
  }
}

function readKeys(members: Members): SiteSecret | string {
  const privateKey = keyOf(members['private_key'])
  if (privateKey === undefined) return 'private_key of the secret is not 32 bytes in base64'
  const peerKey = keyOf(members['peer_public_key'])
  if (peerKey === undefined) return 'peer_public_key of the secret is not 32 bytes in base64'
  const peerPublicKey = Buffer.from(peerKey).toString('base64')
  if (peerPublicKey === publicKeyOf(privateKey))
    return 'peer_public_key of the secret is the public key of this end, not that of the other one'
  const presharedKey = keyOf(members['preshared_key'])
  if (members['preshared_key'] !== undefined && presharedKey === undefined)
    return 'preshared_key of the secret is not 32 bytes in base64'
  return readPlace(members, { privateKey, peerPublicKey, presharedKey })
}

function readPlace(
  members: Members,
  keys: Pick<SiteSecret, 'privateKey' | 'peerPublicKey' | 'presharedKey'>,
): SiteSecret | string {
  const { listen_port: port = 0, address } = members
  if (!isPort(port)) return 'listen_port of the secret is not a port'
  if (address !== undefined && !isAddress(address)) return 'address of the secret is not an IP address without a prefix'
  return { ...keys, listenPort: port, address }
}

function keyOf(value: unknown): Uint8Array | undefined {
  const key = typeof value === 'string' ? unlessZero(keyOfBase64(value)) : undefined
  return key !== undefined && isKey(key) ? key : undefined
}

function isPort(value: unknown): value is number {
  return value === 0 || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= PORT_MAX)
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('%') && isIP(value) !== 0 && isUsableHost(value)
}
