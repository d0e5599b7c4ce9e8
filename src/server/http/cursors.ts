import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'
import type { Paging } from '../../shared/contract/operation.ts'
import { problem } from '../../shared/problems.ts'
import type { Keyring } from '../ports/keyring.ts'
import type { PagePosition } from '../ports/page-range.ts'

/** What a cursor is bound to. */
export interface CursorBinding {
  readonly operationId: string
  readonly paging: Paging
  /** What the list belongs to: the members of path and query that select it, in the contract's order. */
  readonly parent: readonly string[]
  /** Subject of the caller. */
  readonly subject: string
}

/** Seals page positions into opaque cursors and back (S0 convention 5). */
export interface Cursors {
  encode(position: PagePosition, binding: CursorBinding): string
  /**
   * @throws Problem `invalid_cursor` for one that was altered or belongs to another list, parent or server version;
   * `cursor_binding_mismatch` for another caller's where the list binds callers.
   */
  decode(cursor: string, binding: CursorBinding): PagePosition
}

/** Version of the format; part of what is signed. */
const FORMAT = 2
const IV_BYTES = 16
const MAC_BYTES = 16
/** The positions of all lists fit into one block, so that a cursor's length reveals nothing about its row. */
const BLOCK_BYTES = 384
const CIPHER = 'aes-256-ctr'
/** Input of the derivation of encryption keys. Signed input begins with a bracket, so that the two never collide. */
const ENCRYPTION = 'ctl cursor encryption'

/** A key of the ring, with its derived encryption key. */
interface CursorKey {
  readonly id: string
  readonly encryption: KeyObject
}

/**
 * Makes the cursors over the keyring's `cursor` keys; cursors of a retired key still open. A cursor is
 * `IV | ciphertext | MAC`: caller and position are encrypted (AES-256-CTR, fresh IV), then signed (HMAC-SHA-256)
 * together with format version, operation and parent.
 */
export function createCursors(keyring: Keyring): Cursors {
  let derived: readonly CursorKey[] = []

  function macWith(id: string, data: string | Uint8Array): Buffer {
    const mac = keyring.macWith('cursor', id, data)
    if (mac === undefined) throw new Error('the keyring names a cursor key that it does not have')
    return mac
  }

  /** Current key first. Encryption keys are derived once. */
  function keys(): readonly CursorKey[] {
    const ids = keyring.keyIds('cursor')
    if (derived[0]?.id !== ids[0]) {
      derived = ids.map((id) => ({ id, encryption: createSecretKey(macWith(id, ENCRYPTION)) }))
    }
    return derived
  }

  const macOf = (key: CursorKey, sealed: Buffer, binding: CursorBinding): Buffer =>
    macWith(key.id, Buffer.concat([signedBinding(binding), sealed])).subarray(0, MAC_BYTES)

  return {
    encode(position, binding) {
      const [key] = keys()
      if (key === undefined) throw new Error('the keyring has no cursor key')
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key.encryption, iv)
      const sealed = Buffer.concat([iv, cipher.update(padded([callerOf(binding), ...position]))])
      return Buffer.concat([sealed, macOf(key, sealed, binding)]).toString('base64url')
    },
    decode(cursor, binding) {
      const bytes = Buffer.from(cursor, 'base64url')
      // Decoding is lenient about stray characters; a cursor is exactly what was issued.
      if (bytes.toString('base64url') !== cursor) throw problem('invalid_cursor')
      if (bytes.length < IV_BYTES + BLOCK_BYTES + MAC_BYTES) throw problem('invalid_cursor')
      const [sealed, mac] = [bytes.subarray(0, -MAC_BYTES), bytes.subarray(-MAC_BYTES)]
      const key = keys().find((one) => timingSafeEqual(macOf(one, sealed, binding), mac))
      if (key === undefined) throw problem('invalid_cursor')
      const decipher = createDecipheriv(CIPHER, key.encryption, sealed.subarray(0, IV_BYTES))
      return positionOf(decipher.update(sealed.subarray(IV_BYTES)), binding)
    },
  }
}

/** The texts as JSON, filled up with blanks to whole blocks. */
function padded(texts: readonly string[]): Buffer {
  const plain = Buffer.from(JSON.stringify(texts))
  const filled = Buffer.alloc(Math.ceil(plain.length / BLOCK_BYTES) * BLOCK_BYTES, ' ')
  plain.copy(filled)
  return filled
}

function signedBinding({ operationId, parent }: CursorBinding): Buffer {
  return Buffer.from(`${JSON.stringify([FORMAT, operationId, ...parent])}\n`)
}

function positionOf(plain: Buffer, binding: CursorBinding): PagePosition {
  // The signature is valid, so `encode` wrote this.
  const [subject, ...position]: [string, ...string[]] = JSON.parse(plain.toString('utf8'))
  if (subject !== callerOf(binding)) throw problem('cursor_binding_mismatch')
  return position
}

function callerOf({ paging, subject }: CursorBinding): string {
  return paging.cursor === 'caller' ? subject : ''
}

/** The page size that a `limit` asks for: 50 when absent; outside 1..200 refused or clamped by the list's rule. */
export function pageSizeOf(limit: unknown, { limit: rule }: Paging): number {
  if (limit === undefined) return 50
  const size = Number(limit)
  if (size >= 1 && size <= 200) return size
  if (rule === 'rejected') throw problem('invalid_limit')
  return Math.min(200, Math.max(1, size))
}
