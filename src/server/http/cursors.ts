import { timingSafeEqual } from 'node:crypto'
import type { Paging } from '../../shared/contract/operation.ts'
import { problem } from '../../shared/problems.ts'
import type { Keyring } from '../ports/keyring.ts'
import type { PagePosition } from './request-context.ts'

/** What a cursor is bound to. */
export interface CursorBinding {
  readonly operationId: string
  readonly paging: Paging
  /** Subject of the caller. */
  readonly subject: string
}

/** Signs page positions into opaque cursors and back (S0 convention 5). */
export interface Cursors {
  encode(position: PagePosition, binding: CursorBinding): string
  /** @throws Problem `invalid_cursor`, or `cursor_binding_mismatch` for another caller's where the list binds callers. */
  decode(cursor: string, binding: CursorBinding): PagePosition
}

/** First member of a cursor; another one is a cursor of another server version. */
const FORMAT = 1
const MAC_BYTES = 16

/** Makes the cursors over the keyring's `cursor` keys; cursors of a retired key still verify. */
export function createCursors(keyring: Keyring): Cursors {
  const bound = (payload: string, { operationId }: CursorBinding): string => `${operationId}\n${payload}`

  return {
    encode(position, binding) {
      const payload = JSON.stringify([FORMAT, bindingOf(binding), ...position])
      const { keyId, mac } = keyring.mac('cursor', bound(payload, binding))
      const head = Buffer.from(`${keyId}\n${payload}`)
      return Buffer.concat([mac.subarray(0, MAC_BYTES), head]).toString('base64url')
    },
    decode(cursor, binding) {
      const bytes = Buffer.from(cursor, 'base64url')
      // Decoding is lenient about stray characters; a cursor is exactly what was issued.
      if (bytes.toString('base64url') !== cursor) throw problem('invalid_cursor')
      const head = bytes.subarray(MAC_BYTES).toString('utf8')
      const line = head.indexOf('\n')
      const [keyId, payload] = [head.slice(0, Math.max(0, line)), head.slice(line + 1)]
      const expected = keyring.macWith('cursor', keyId, bound(payload, binding))?.subarray(0, MAC_BYTES)
      const given = bytes.subarray(0, MAC_BYTES)
      if (expected?.length !== given.length || !timingSafeEqual(expected, given)) throw problem('invalid_cursor')
      return positionOf(payload, binding)
    },
  }
}

function positionOf(payload: string, binding: CursorBinding): PagePosition {
  // The signature was ours, so the payload is what `encode` wrote.
  const [format, subject, ...position]: [number, string, ...string[]] = JSON.parse(payload)
  if (format !== FORMAT) throw problem('invalid_cursor')
  if (subject !== bindingOf(binding)) throw problem('cursor_binding_mismatch')
  return position
}

function bindingOf({ paging, subject }: CursorBinding): string {
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
