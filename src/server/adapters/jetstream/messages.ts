import { createHash } from 'node:crypto'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { payloadIn } from '../../../shared/events/envelope.ts'
import type { BusEvent, OutgoingEvent } from '../../ports/event-bus.ts'
import { nodeOf } from './names.ts'

const NODE_SEQ = 'Ctl-Node-Seq'
const TYPE = 'Ctl-Type'
const NODE_SEQ_TEXT = /^[1-9]\d{0,15}$/

/** Bytes of a message besides the envelope, with a margin. */
export const HEADER_BYTES_MAX = 512

/** Identifies an event, whichever key signed it (S0 Publish dedup). */
export function messageIdOf({ domainId, nodeId, type, wire, eventId }: OutgoingEvent): string {
  return createHash('sha256')
    .update(JSON.stringify([domainId, nodeId, type, payloadIn(wire), eventId]))
    .digest('base64url')
}

export function headersOf({ nodeSeq, type }: OutgoingEvent): MsgHdrs {
  const made = headers()
  made.set(NODE_SEQ, nodeSeq.toString())
  made.set(TYPE, type)
  return made
}

/** A message as the client hands it out, delivered or asked for. */
export interface StoredMessage {
  readonly subject: string
  /** Its number in the stream. */
  readonly streamSeq: number
  readonly headers: MsgHdrs | undefined
  readonly data: Uint8Array
}

const DECODER = new TextDecoder()

/** The event of a message; undefined where this server did not publish it. `base` is added to every number of the stream. */
export function eventOf(message: StoredMessage, base: bigint): BusEvent | undefined {
  const nodeSeq = message.headers?.get(NODE_SEQ) ?? ''
  const type = message.headers?.get(TYPE) ?? ''
  if (!NODE_SEQ_TEXT.test(nodeSeq) || type === '') return undefined
  return {
    seq: base + BigInt(message.streamSeq),
    nodeId: nodeOf(message.subject),
    nodeSeq: BigInt(nodeSeq),
    type,
    wire: DECODER.decode(message.data),
  }
}
