import { blake2s } from '@noble/hashes/blake2.js'
import { randomBytes } from 'node:crypto'

/** A message of WireGuard whose sealed parts are random: one that forwards cannot read them either. */
interface Sent {
  /** Public key of the addressee, in base64. */
  readonly to: string
  readonly sender: number
}

/** A first message of a handshake. */
export function initiation({ to, sender }: Sent): Buffer {
  const packet = randomBytes(148)
  packet.writeUInt32LE(1, 0)
  packet.writeUInt32LE(sender, 4)
  return marked(packet, 116, to)
}

/** Its answer; `receiver` is the sender of the first message. */
export function response({ to, sender, receiver }: Sent & { readonly receiver: number }): Buffer {
  const packet = randomBytes(92)
  packet.writeUInt32LE(2, 0)
  packet.writeUInt32LE(sender, 4)
  packet.writeUInt32LE(receiver, 8)
  return marked(packet, 60, to)
}

/** A cookie reply. */
export function cookie(receiver: number): Buffer {
  const packet = randomBytes(64)
  packet.writeUInt32LE(3, 0)
  packet.writeUInt32LE(receiver, 4)
  return packet
}

/** A data packet. */
export function data(receiver: number, bytes = 32): Buffer {
  const packet = randomBytes(bytes)
  packet.writeUInt32LE(4, 0)
  packet.writeUInt32LE(receiver, 4)
  return packet
}

function marked(packet: Buffer, signedBytes: number, publicKey: string): Buffer {
  const key = blake2s(Buffer.concat([Buffer.from('mac1----'), Buffer.from(publicKey, 'base64')]))
  packet.set(blake2s(packet.subarray(0, signedBytes), { key, dkLen: 16 }), signedBytes)
  return packet
}
