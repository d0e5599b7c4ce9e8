import { type Answer, encode } from 'dns-packet'
import { type NameTable, ZONE } from './name-table.ts'
import { type Edns, type Query, type Question, RCODE, type Rcode, readQuery } from './read-query.ts'

const TYPE = { a: 1, soa: 6, ptr: 12, ixfr: 251, axfr: 252, any: 255 } as const
const CLASS_IN = 1
const HEADER_BYTES = 12
const FLAG = { authoritative: 0x0400, truncated: 0x0200 } as const
/** Opcode, recursion desired and checking disabled: what an answer repeats of the query. */
const REPEATED_FLAGS = 0x7910

/** Names change with the mesh, and the resolver is on this machine: an answer is cached for seconds only. */
const TTL_SECONDS = 5
/** Short, so that a node that has just joined is found. */
const NEGATIVE_TTL_SECONDS = 1

const PLAIN_UDP_BYTES_MAX = 512
const TCP_BYTES_MAX = 65_535
/** UDP answers that fit an Ethernet frame are never fragmented. */
const UDP_BYTES_MAX = 1232

interface Outcome {
  readonly rcode: Rcode
  readonly isAuthoritative?: boolean
  readonly isTruncated?: boolean
  readonly answers?: readonly Answer[]
  readonly authorities?: readonly Answer[]
}

/**
 * Answers one DNS query about the mesh: A of `<node>.mesh`, PTR of the addresses in the table, NXDOMAIN for other names
 * under `mesh`, REFUSED for everything else. Undefined where no answer is due. An answer that exceeds what the
 * transport carries is empty and marked as truncated, so that the sender asks again over TCP.
 */
export function answerQuery(bytes: Buffer, table: NameTable, transport: 'udp' | 'tcp'): Buffer | undefined {
  const query = readQuery(bytes)
  if (query === undefined) return undefined
  const outcome = outcomeOf(query, table)
  const answer = answerBytes(query, outcome)
  return answer.byteLength <= bytesMax(query.edns, transport)
    ? answer
    : answerBytes(query, { ...outcome, isTruncated: true, answers: [], authorities: [] })
}

function bytesMax(edns: Edns | undefined, transport: 'udp' | 'tcp'): number {
  if (transport === 'tcp') return TCP_BYTES_MAX
  return Math.min(UDP_BYTES_MAX, Math.max(PLAIN_UDP_BYTES_MAX, edns?.udpBytesMax ?? 0))
}

function outcomeOf({ rcode, question, edns }: Query, table: NameTable): Outcome {
  if (rcode !== undefined || question === undefined) return { rcode: rcode ?? RCODE.formErr }
  if (edns !== undefined && edns.version > 0) return { rcode: RCODE.badVers }
  if (question.class !== CLASS_IN || question.type === TYPE.axfr || question.type === TYPE.ixfr)
    return { rcode: RCODE.refused }
  const labels = question.labels.map((label) => label.toLowerCase())
  if (labels.at(-1) === ZONE) return inZone(question, labels.slice(0, -1), table)
  return inReverse(question, labels, table)
}

function inZone(question: Question, labels: readonly string[], table: NameTable): Outcome {
  const [name, ...more] = labels
  if (name === undefined) return apex(question)
  const address = more.length === 0 ? table.addressOf(name) : undefined
  if (address === undefined) return { rcode: RCODE.nxDomain, isAuthoritative: true, authorities: [startOfAuthority()] }
  if (!asksFor(question, TYPE.a)) return noData()
  return found([{ type: 'A', name: nameOf(question), ttl: TTL_SECONDS, data: address }])
}

function apex(question: Question): Outcome {
  return asksFor(question, TYPE.soa) ? found([startOfAuthority(nameOf(question))]) : noData()
}

function inReverse(question: Question, labels: readonly string[], table: NameTable): Outcome {
  const isReverse = labels.length === 6 && labels[4] === 'in-addr' && labels[5] === 'arpa'
  const names = isReverse ? table.namesOf(labels.slice(0, 4).toReversed().join('.')) : []
  if (names.length === 0) return { rcode: RCODE.refused }
  if (!asksFor(question, TYPE.ptr)) return { rcode: RCODE.noError, isAuthoritative: true }
  const owner = nameOf(question)
  return found(names.map((name) => ({ type: 'PTR', name: owner, ttl: TTL_SECONDS, data: `${name}.${ZONE}` })))
}

function asksFor({ type }: Question, wanted: number): boolean {
  return type === wanted || type === TYPE.any
}

/** The name in the case of the question, which some resolvers compare with the answer's. */
function nameOf({ labels }: Question): string {
  return labels.join('.')
}

function found(answers: readonly Answer[]): Outcome {
  return { rcode: RCODE.noError, isAuthoritative: true, answers }
}

function noData(): Outcome {
  return { rcode: RCODE.noError, isAuthoritative: true, authorities: [startOfAuthority()] }
}

/** The record that limits how long a negative answer is cached (RFC 2308 §5). */
function startOfAuthority(name: string = ZONE): Answer {
  return {
    type: 'SOA',
    name,
    ttl: NEGATIVE_TTL_SECONDS,
    data: {
      mname: ZONE,
      rname: `hostmaster.${ZONE}`,
      serial: 1,
      refresh: 60,
      retry: 60,
      expire: 60,
      minimum: NEGATIVE_TTL_SECONDS,
    },
  }
}

/** The question is repeated from its bytes: the library does not encode every name as it was asked. */
function answerBytes(query: Query, outcome: Outcome): Buffer {
  const { id, question, edns } = query
  const flags =
    (query.flags & REPEATED_FLAGS) |
    (outcome.isAuthoritative === true ? FLAG.authoritative : 0) |
    (outcome.isTruncated === true ? FLAG.truncated : 0) |
    (outcome.rcode & 0xf)
  const records = encode({
    type: 'response',
    id,
    flags,
    questions: [],
    answers: [...(outcome.answers ?? [])],
    authorities: [...(outcome.authorities ?? [])],
    additionals: edns === undefined ? [] : [optRecord(edns, outcome.rcode)],
  })
  if (question === undefined) return records
  records.writeUInt16BE(1, 4)
  return Buffer.concat([records.subarray(0, HEADER_BYTES), question.bytes, records.subarray(HEADER_BYTES)])
}

function optRecord({ isDnssecOk }: Edns, rcode: Rcode): Answer {
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: UDP_BYTES_MAX,
    extendedRcode: rcode >> 4,
    ednsVersion: 0,
    flags: isDnssecOk ? 0x8000 : 0,
    flag_do: isDnssecOk,
    options: [],
  }
}
