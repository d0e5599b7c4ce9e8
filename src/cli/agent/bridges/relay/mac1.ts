import { blake2s } from '@noble/hashes/blake2.js'

const LABEL = Buffer.from('mac1----')
const MAC_BYTES = 16

/** The key with which a handshake message to the owner of that public key is marked (WireGuard white paper, section 5.4.4). */
export function mac1Key(publicKey: Uint8Array): Uint8Array {
  return blake2s(Buffer.concat([LABEL, publicKey]))
}

/** Whether the mac1 that follows the first `signedBytes` of a handshake message was made with that key. It is no secret. */
export function isMarkedFor(key: Uint8Array, packet: Buffer, signedBytes: number): boolean {
  const mac = blake2s(packet.subarray(0, signedBytes), { key, dkLen: MAC_BYTES })
  return packet.subarray(signedBytes, signedBytes + MAC_BYTES).equals(mac)
}
