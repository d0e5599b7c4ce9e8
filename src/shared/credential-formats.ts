import { base62, base62OfBytes, randomBase62 } from './base62.ts'
import { crc32 } from './crc32.ts'

/**
 * The texts of credentials (decisions: Credentials). Only their syntax: the server decides whether one is valid, by its
 * fingerprint.
 *
 * - API token `psk_<env>_<id>_<random>`, join token `jtk_<env>_<id>_<random>`: `id` is a UUID as 32 hex digits,
 *   `random` 43 base62 digits of 256 random bits and 6 of the CRC-32 over everything before it, which a secret
 *   scanner uses to distinguish a token from random text.
 * - Node secret key `nsk_<env>_<node id>_<kid>_<key>`: 32 hex digits, 8 base62 digits, 32 bytes in base64url.
 */

/** The allowed values of `SERVICE_ENV`, which names the installation in every credential that it mints. */
export const CREDENTIAL_ENV = /^[a-z0-9]{1,16}$/

const TOKEN = /^(psk|jtk)_([a-z0-9]{1,16})_([0-9a-f]{32})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/
/** A node secret key. The last digit of its key carries four bits, so only these sixteen are canonical. */
export const NSK = /^nsk_([a-z0-9]{1,16})_([0-9a-f]{32})_([0-9A-Za-z]{8})_([0-9A-Za-z_-]{42}[AEIMQUYcgkosw048])$/

/** A token just minted. `token` is the secret; `prefix`, everything up to and with the id, may be shown and stored. */
export interface MintedToken {
  readonly token: string
  readonly prefix: string
}

/** The fields of a token's text. */
export interface TokenFields {
  readonly env: string
  /** The stored row's UUID. */
  readonly id: string
  readonly prefix: string
}

export interface MintedNsk {
  readonly nsk: string
  /** The key id that `X-Service-PSK-KID` names. */
  readonly kid: string
}

/** The fields of a node secret key's text. */
export interface NskFields {
  readonly env: string
  readonly nodeId: string
  readonly kid: string
  /** 32 bytes: the AES-256-GCM key of edge envelopes. */
  readonly key: Uint8Array
}

/** Mints an API token for the row of that UUID. */
export function mintApiToken(env: string, id: string): MintedToken {
  return mintToken('psk', env, id)
}

/** Reads an API token's text; undefined when it is not one, its checksum included. */
export function parseApiToken(text: string): TokenFields | undefined {
  return parseToken('psk', text)
}

/** Mints a join token for the row of that UUID. */
export function mintJoinToken(env: string, id: string): MintedToken {
  return mintToken('jtk', env, id)
}

/** Reads a join token's text; undefined when it is not one, its checksum included. */
export function parseJoinToken(text: string): TokenFields | undefined {
  return parseToken('jtk', text)
}

/** Mints a node secret key with a fresh key id. */
export function mintNsk(env: string, nodeId: string): MintedNsk {
  const kid = randomBase62(8)
  return { nsk: `nsk_${checkedEnv(env)}_${hexOf(nodeId)}_${kid}_${base64url(randomBytes())}`, kid }
}

/** Reads a node secret key's text; undefined when it is not one. */
export function parseNsk(text: string): NskFields | undefined {
  const [, env, nodeHex, kid, key] = NSK.exec(text) ?? []
  if (env === undefined || nodeHex === undefined || kid === undefined || key === undefined) return undefined
  return { env, nodeId: uuidOf(nodeHex), kid, key: bytesOfBase64url(key) }
}

function mintToken(kind: 'psk' | 'jtk', env: string, id: string): MintedToken {
  const prefix = `${kind}_${checkedEnv(env)}_${hexOf(id)}`
  const body = `${prefix}_${base62OfBytes(randomBytes(), 43)}`
  return { token: body + checksum(body), prefix }
}

function parseToken(kind: 'psk' | 'jtk', text: string): TokenFields | undefined {
  const [, found, env, idHex, , crc] = TOKEN.exec(text) ?? []
  if (found !== kind || env === undefined || idHex === undefined) return undefined
  if (checksum(text.slice(0, -6)) !== crc) return undefined
  return { env, id: uuidOf(idHex), prefix: `${kind}_${env}_${idHex}` }
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), 6)
}

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}

function checkedEnv(env: string): string {
  if (!CREDENTIAL_ENV.test(env)) throw new RangeError('the environment name must be 1 to 16 of a-z and 0-9')
  return env
}

function hexOf(uuid: string): string {
  return uuid.replaceAll('-', '').toLowerCase()
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

function bytesOfBase64url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
}
