import { decode } from 'dns-packet'

/** Values of RFC 1035 §4.1.1 and RFC 6891 §6.1.3. */
export const RCODE = { noError: 0, formErr: 1, nxDomain: 3, notImp: 4, refused: 5, badVers: 16 } as const

export type Rcode = (typeof RCODE)[keyof typeof RCODE]

/** The one question of a query. */
export interface Question {
  /** Name, type and class as they were asked, for the answer. */
  readonly bytes: Uint8Array
  /** Labels of the name, letters in the case of the question; other bytes are Latin-1. */
  readonly labels: readonly string[]
  readonly type: number
  readonly class: number
}

/** What the sender of a query understands of EDNS (RFC 6891). */
export interface Edns {
  readonly udpBytesMax: number
  readonly version: number
  readonly isDnssecOk: boolean
}

/** A query as far as it could be read: with `rcode` where it is to be refused with that. */
export interface Query {
  readonly id: number
  /** Opcode and flags of the header. */
  readonly flags: number
  readonly question: Question | undefined
  readonly edns: Edns | undefined
  readonly rcode?: Rcode
}

const HEADER_BYTES = 12
/** A name has 255 bytes at most, and options of EDNS are short. Longer queries are refused before they are decoded. */
export const QUERY_BYTES_MAX = 4096
/** OPT, and one of TSIG or SIG(0). */
const ADDITIONALS_MAX = 2
const NAME_BYTES_MAX = 255
const RESPONSE = 0x8000
const OPCODE_MASK = 0x7800
const DNSSEC_OK = 0x8000
const LABEL_BYTES_MAX = 63

/** Reads a query. Undefined where no answer is due: to less than a header, and to an answer. */
export function readQuery(bytes: Buffer): Query | undefined {
  if (bytes.byteLength < HEADER_BYTES) return undefined
  const id = bytes.readUInt16BE(0)
  const flags = bytes.readUInt16BE(2)
  if ((flags & RESPONSE) !== 0) return undefined
  const head = { id, flags, question: undefined, edns: undefined }
  if ((flags & OPCODE_MASK) !== 0) return { ...head, rcode: RCODE.notImp }
  if (!hasQueryCounts(bytes) || bytes.byteLength > QUERY_BYTES_MAX) return { ...head, rcode: RCODE.formErr }
  const question = readQuestion(bytes)
  const edns = question && readEdns(bytes)
  if (question === undefined || edns === 'malformed') return { ...head, question, rcode: RCODE.formErr }
  return { id, flags, question, edns }
}

function hasQueryCounts(bytes: Buffer): boolean {
  return (
    bytes.readUInt16BE(4) === 1 &&
    bytes.readUInt16BE(6) === 0 &&
    bytes.readUInt16BE(8) === 0 &&
    bytes.readUInt16BE(10) <= ADDITIONALS_MAX
  )
}

/**
 * Reads the question from its bytes. `dns-packet` joins the labels, so that a dot within a label is lost, and it follows
 * compression pointers, which the first name of a message cannot have.
 */
function readQuestion(bytes: Buffer): Question | undefined {
  const labels: string[] = []
  let offset = HEADER_BYTES
  for (;;) {
    const length = bytes[offset]
    if (length === undefined || length > LABEL_BYTES_MAX) return undefined
    offset += 1 + length
    if (length === 0) break
    labels.push(bytes.toString('latin1', offset - length, offset))
  }
  if (offset - HEADER_BYTES > NAME_BYTES_MAX || offset + 4 > bytes.byteLength) return undefined
  return {
    bytes: bytes.subarray(HEADER_BYTES, offset + 4),
    labels,
    type: bytes.readUInt16BE(offset),
    class: bytes.readUInt16BE(offset + 2),
  }
}

/** Reads the OPT record; undefined where there is none. Bytes after the last record make a query malformed. */
function readEdns(bytes: Buffer): Edns | 'malformed' | undefined {
  try {
    const { additionals = [] } = decode(bytes)
    const records = additionals.filter((record) => record.type === 'OPT')
    if (decode.bytes !== bytes.byteLength || records.length > 1) return 'malformed'
    const [opt] = records
    if (opt === undefined) return undefined
    if (opt.name !== '.') return 'malformed'
    return {
      udpBytesMax: opt.udpPayloadSize,
      version: opt.ednsVersion,
      isDnssecOk: (opt.flags & DNSSEC_OK) !== 0,
    }
  } catch {
    // The library throws for bytes that are no message; the sender receives FORMERR.
    return 'malformed'
  }
}
