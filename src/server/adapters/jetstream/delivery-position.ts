import type { Msg } from '@nats-io/transport-node'

/** Position of a delivered message: in the stream, and among the deliveries of its consumer. */
export interface DeliveryPosition {
  readonly streamSeq: number
  readonly deliveredSeq: number
}

/**
 * Read from the reply subject, `$JS.ACK.<stream>.<consumer>.<tries>.<stream seq>.<delivered seq>.<time>.<pending>`; with
 * JetStream domains there are two more names in front (NATS ADR-15).
 */
export function deliveryPositionOf({ reply = '' }: Msg): DeliveryPosition {
  const tokens = reply.split('.')
  const at = tokens.length > 9 ? 7 : 5
  return { streamSeq: Number(tokens[at]), deliveredSeq: Number(tokens[at + 1]) }
}
