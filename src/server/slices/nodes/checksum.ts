import { problem } from '../../../shared/problems.ts'

const HEX_DIGITS = 64
const HEX = /^[0-9a-fA-F]{64}$/

/**
 * Decodes a SHA-256 given as 64 hex digits or padded base64 (decisions: Bodies) to its 32 bytes.
 *
 * @throws Problem `invalid_checksum`.
 */
export function parseChecksum(text: string): Buffer {
  const bytes = HEX.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  if (bytes.length !== 32) throw problem('invalid_checksum')
  return bytes
}

/**
 * A SHA-256 in either form, as the contract's pattern lets it through, as 64 lower-case hex digits; hex, which agents send,
 * is recognized by its length, and not decoded.
 *
 * @throws Problem `invalid_checksum`.
 */
export function checksumHex(text: string): string {
  return text.length === HEX_DIGITS ? text.toLowerCase() : parseChecksum(text).toString('hex')
}
