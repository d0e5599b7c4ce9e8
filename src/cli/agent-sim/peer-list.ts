import { isNonZeroUuid } from '../../shared/ids.ts'
import { isPskIssuedAt } from '../../shared/mesh/psk-instant.ts'
import { parseCanonical } from './canonical-bytes.ts'
import { endOf } from './json-scan.ts'
import type { PeerBook, PeerFacts } from './peer-book.ts'

/** Why a list of peers breaks a promise (S0 NodeStateSnapshot). */
export type PeerListFault = 'not_json' | 'not_canonical' | 'bad_peer' | 'peers_unsorted'

/** The peers of a list in its order, as numbers of the book's facts; and the place behind the bracket that ends it. */
export type ReadPeerList =
  | { readonly ok: true; readonly numbers: Uint32Array; readonly end: number }
  | { readonly ok: false; readonly fault: PeerListFault }

/** Reads the list whose opening bracket is before that place. */
export type PeerListReader = (bytes: Buffer, from: number) => ReadPeerList

/** A list that was read. `starts`: where each peer begins and, one more, the place behind the bracket that ends the list. */
interface KnownList {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly numbers: Uint32Array
}

const COMMA = 0x2c
const CLOSE_BRACKET = 0x5d
const NO_LIST: KnownList = { bytes: Buffer.alloc(0), starts: new Uint32Array(1), numbers: new Uint32Array(0) }
/** Peers that are compared together at first, and room for that many more than the last list had. */
const STRIDE = 64

/**
 * Makes a reader of lists of which each is nearly the one before, as the nodes of a Domain pull them: a peer whose bytes are
 * those of the last list is what it was found to be there, and only others are parsed. The list of a Domain of ten thousand
 * nodes is two megabytes.
 */
export function createPeerListReader(book: PeerBook): PeerListReader {
  let last = NO_LIST
  return (bytes, from) => {
    if (bytes[from] === CLOSE_BRACKET) return { ok: true, numbers: new Uint32Array(0), end: from + 1 }
    const read = readRelative({ book, last, bytes, from })
    if (!read.ok) return read
    last = read.list
    return { ok: true, numbers: last.numbers, end: last.starts.at(-1) ?? from }
  }
}

interface Reading {
  readonly book: PeerBook
  readonly last: KnownList
  readonly bytes: Buffer
  readonly from: number
}

type Relative = { readonly ok: true; readonly list: KnownList } | { readonly ok: false; readonly fault: PeerListFault }

function readRelative(reading: Reading): Relative {
  const { book, last, bytes, from } = reading
  const list = new GrowingList(last.numbers.length + STRIDE)
  let [at, peer, before] = [from, 0, '']
  for (;;) {
    const taken = takeNext(reading, list, { at, peer })
    if (!taken.ok) return taken
    if (taken.first <= before) return { ok: false, fault: 'peers_unsorted' }
    before = idOf(book, list.latest())
    peer = taken.peer
    at = taken.at + 1
    const separator = bytes[taken.at]
    if (separator === CLOSE_BRACKET) return { ok: true, list: { bytes, ...list.finished(at) } }
    if (separator !== COMMA) return { ok: false, fault: 'not_canonical' }
  }
}

/** A place in the bytes, and the first peer of the known list that may stand there. */
interface Cursor {
  readonly at: number
  readonly peer: number
}

/** `first`: the node of the first peer that was taken. */
type Taken =
  | ({ readonly ok: true; readonly first: string } & Cursor)
  | { readonly ok: false; readonly fault: PeerListFault }

/** Takes over as many peers as stand here as they were, or else reads one. */
function takeNext({ book, last, bytes }: Reading, list: GrowingList, { at, peer }: Cursor): Taken {
  const same = sameFrom(last, peer, { bytes, at })
  if (same > 0) {
    const behind = list.takeOver(last, { from: peer, to: peer + same, at })
    return { ok: true, first: idOf(book, last.numbers[peer]), at: behind, peer: peer + same }
  }
  const read = readPeer(bytes, at)
  if (!read.ok) return read
  const { node_id: first } = read.facts
  list.add(book.enter(read.facts), at)
  let later = peer
  while (later < last.numbers.length && idOf(book, last.numbers[later]) <= first) later += 1
  return { ok: true, first, at: read.end, peer: later }
}

function idOf(book: PeerBook, number: number | undefined): string {
  return number === undefined ? '' : book.read(number).node_id
}

/** How many peers of the known list, from that one, stand in the same bytes at that place. */
function sameFrom(
  last: KnownList,
  peer: number,
  { bytes, at }: { readonly bytes: Buffer; readonly at: number },
): number {
  const { starts, numbers } = last
  const moved = at - (starts[peer] ?? 0)
  const isSame = (from: number, to: number): boolean => {
    if (to > numbers.length) return false
    // What follows the last one of them, a comma or the end of the list, may differ; the comma before the first one may not.
    const [begin, end] = [(starts[from] ?? 0) - (from > peer ? 1 : 0), (starts[to] ?? 0) - 1]
    return end + moved <= bytes.length && bytes.compare(last.bytes, begin, end, begin + moved, end + moved) === 0
  }
  let [to, step, isGrowing] = [peer, STRIDE, true]
  while (step >= 1) {
    if (isSame(to, to + step)) to += step
    else isGrowing = false
    step = isGrowing ? step * 2 : step >> 1
  }
  return to - peer
}

type ReadPeer =
  | { readonly ok: true; readonly facts: PeerFacts; readonly end: number }
  | { readonly ok: false; readonly fault: PeerListFault }

function readPeer(bytes: Buffer, at: number): ReadPeer {
  const end = endOf(bytes, at)
  if (end === undefined) return { ok: false, fault: 'bad_peer' }
  const parsed = parseCanonical(bytes.subarray(at, end))
  if (!parsed.ok) return parsed
  if (!isPeer(parsed.value)) return { ok: false, fault: 'bad_peer' }
  const { node_id, public_key, mesh_address, endpoint, psk_issued_at } = parsed.value
  // Only what is compared: pulls may say more of a peer.
  return { ok: true, facts: { node_id, public_key, mesh_address, endpoint, psk_issued_at }, end }
}

function isPeer(peer: unknown): peer is PeerFacts {
  if (typeof peer !== 'object' || peer === null) return false
  const { node_id, public_key, mesh_address, endpoint, psk_issued_at } = peer as Readonly<Record<string, unknown>>
  return (
    [node_id, public_key, mesh_address].every((text) => isText(text) && text !== '') &&
    isText(endpoint) &&
    isText(node_id) &&
    isNonZeroUuid(node_id) &&
    isText(psk_issued_at) &&
    isPskIssuedAt(psk_issued_at)
  )
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** A list while it is read. */
class GrowingList {
  #starts: Uint32Array
  #numbers: Uint32Array
  #size = 0

  constructor(room: number) {
    this.#starts = new Uint32Array(room + 1)
    this.#numbers = new Uint32Array(room)
  }

  add(number: number, start: number): void {
    this.#reach(this.#size + 1)
    this.#numbers[this.#size] = number
    this.#starts[this.#size] = start
    this.#size += 1
  }

  /** Takes peers of a known list, which stand at that place here; returns the place behind the last of them. */
  takeOver(known: KnownList, { from, to, at }: { readonly from: number; readonly to: number; readonly at: number }) {
    const moved = at - (known.starts[from] ?? 0)
    this.#reach(this.#size + to - from)
    this.#numbers.set(known.numbers.subarray(from, to), this.#size)
    for (let peer = from; peer < to; peer += 1)
      this.#starts[this.#size + peer - from] = (known.starts[peer] ?? 0) + moved
    this.#size += to - from
    return (known.starts[to] ?? 0) - 1 + moved
  }

  latest(): number | undefined {
    return this.#size === 0 ? undefined : this.#numbers[this.#size - 1]
  }

  finished(end: number): Pick<KnownList, 'starts' | 'numbers'> {
    this.#starts[this.#size] = end
    return { starts: this.#starts.subarray(0, this.#size + 1), numbers: this.#numbers.subarray(0, this.#size) }
  }

  #reach(size: number): void {
    if (size <= this.#numbers.length) return
    const [starts, numbers] = [new Uint32Array(2 * size + 1), new Uint32Array(2 * size)]
    starts.set(this.#starts)
    numbers.set(this.#numbers)
    ;[this.#starts, this.#numbers] = [starts, numbers]
  }
}
