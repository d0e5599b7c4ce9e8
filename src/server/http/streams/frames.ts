/** A signed event with its position. */
export interface SentEvent {
  readonly seq: bigint
  readonly type: string
  /** The signed envelope. */
  readonly wire: string
}

/** A frame of the stream (S0 Events); the envelope is canonical JSON and so has no line break. */
export function frameOf({ seq, type, wire }: SentEvent): Buffer {
  return Buffer.from(`id: ${seq}\nevent: ${type}\ndata: ${wire}\n\n`)
}

/** A comment: readers ignore it, and everything between them and the server sees that the connection is in use. */
export const KEEP_ALIVE: Buffer = Buffer.from(':keep-alive\n\n')

const RETRY_MS = { min: 1_000, spread: 4_000 }

/** Says when to come back; each reader another time, so that they do not all come at once. */
export function retryFrame(): Buffer {
  return Buffer.from(`retry: ${RETRY_MS.min + Math.floor(Math.random() * RETRY_MS.spread)}\n\n`)
}
