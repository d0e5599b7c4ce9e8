const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The number in base 62, most significant digit first, zero-padded to `length`. */
export function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text
  return text.padStart(length, '0')
}

/** The bytes, read as one big-endian number, in base 62: 32 bytes fill 43 digits. */
export function base62OfBytes(bytes: Uint8Array, length: number): string {
  return base62(
    bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n),
    length,
  )
}

/** Random digits, each of the 62 equally likely: bytes above the last multiple of 62 are replaced. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < 248) text += DIGITS.charAt(byte % 62)
  }
  return text
}
