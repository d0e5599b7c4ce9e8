/** A message of WireGuard, as far as one can read it without a key (WireGuard white paper, section 5.4). Indexes are 32 bits. */
export type Message =
  | { readonly kind: 'initiation'; readonly sender: number }
  | { readonly kind: 'response'; readonly sender: number; readonly receiver: number }
  | { readonly kind: 'cookie' | 'data'; readonly receiver: number }

/** Bytes of a handshake message before its mac1, which has 16 bytes and is followed by mac2, which has as many. */
export const SIGNED_BYTES = { initiation: 116, response: 60 } as const

const INITIATION_BYTES = 148
const RESPONSE_BYTES = 92
const COOKIE_BYTES = 64
/** Header and authentication tag of an empty packet. */
const DATA_BYTES_MIN = 32

/** Reads a message; undefined for what is none. Type and reserved zeros are its first four bytes. */
export function readMessage(packet: Buffer): Message | undefined {
  if (packet.length < DATA_BYTES_MIN) return undefined
  return READERS.get(packet.readUInt32LE(0))?.(packet)
}

type Reader = (packet: Buffer) => Message | undefined

const READERS: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [1, (packet) => only(packet.length === INITIATION_BYTES, { kind: 'initiation', sender: packet.readUInt32LE(4) })],
  [
    2,
    (packet) =>
      only(packet.length === RESPONSE_BYTES, {
        kind: 'response',
        sender: packet.readUInt32LE(4),
        receiver: packet.readUInt32LE(8),
      }),
  ],
  [3, (packet) => only(packet.length === COOKIE_BYTES, { kind: 'cookie', receiver: packet.readUInt32LE(4) })],
  // Packets are padded to multiples of 16 bytes, but not beyond the MTU: those that fill it have any length.
  [4, (packet) => ({ kind: 'data', receiver: packet.readUInt32LE(4) })],
])

function only(isWhole: boolean, message: Message): Message | undefined {
  return isWhole ? message : undefined
}
