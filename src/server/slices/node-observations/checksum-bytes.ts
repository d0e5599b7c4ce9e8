/** The 32 bytes of a checksum that the contract has let through: 64 hex digits or padded base64. */
export function checksumBytes(checksum: string): Buffer {
  return Buffer.from(checksum, checksum.length === 64 ? 'hex' : 'base64')
}
