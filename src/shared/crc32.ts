/** Remainders of one byte under the reflected polynomial of IEEE 802.3. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder & 1) === 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder >>> 0
})

/** CRC-32 (IEEE 802.3, as in zip and PNG) of ASCII text. */
export function crc32(ascii: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < ascii.length; i++) crc = (crc >>> 8) ^ (TABLE[(crc ^ ascii.charCodeAt(i)) & 0xff] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}
