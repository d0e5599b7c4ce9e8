import { isNonZeroUuid } from '../../../shared/ids.ts'
import { isPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import { isGroup } from '../../../shared/policies/rule-types.ts'
import { parseCanonical } from './canonical-bytes.ts'
import { endOf } from './json-scan.ts'
import type { PeerBook, PeerFacts } from '../peers/peer-book.ts'

/** How a list of peers violates the specification (S0 NodeStateSnapshot). */
export type PeerListFault = 'not_json' | 'not_canonical' | 'bad_peer' | 'peers_unsorted'

/** The peers of a list in order, as fact numbers of the book. `end`: the offset after the closing bracket. */
export type ReadPeerList =
  | { readonly ok: true; readonly numbers: Uint32Array; readonly end: number }
  | { readonly ok: false; readonly fault: PeerListFault }

/** Reads the list whose opening bracket is directly before the offset `from`. */
export type PeerListReader = (bytes: Buffer, from: number) => ReadPeerList

/** A parsed list. `starts`: the offset of each peer, then the offset after the closing bracket. */
interface KnownList {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly numbers: Uint32Array
}

const COMMA = 0x2c
const CLOSE_BRACKET = 0x5d
const NO_LIST: KnownList = { bytes: Buffer.alloc(0), starts: new Uint32Array(1), numbers: new Uint32Array(0) }
/** Number of peers in the first comparison step, and the spare capacity of a new list. */
const STRIDE = 64

/**
 * Makes a reader for similar lists, as the nodes of a Domain pull them. It reuses the peers whose bytes equal those of the
 * previous list and parses only the others. In a Domain of ten thousand nodes a list has two megabytes.
 */
export function createPeerListReader(book: PeerBook): PeerListReader {
  let last = NO_LIST
  return (bytes, from) => {
    if (bytes[from] === CLOSE_BRACKET) return { ok: true, numbers: new Uint32Array(0), end: from + 1 }
    const read = readList({ book, last, bytes, from })
    if (!read.ok) return read
    last = read.list
    book.keep(last.numbers)
    book.free()
    return { ok: true, numbers: last.numbers, end: last.starts.at(-1) ?? from }
  }
}

interface Reading {
  readonly book: PeerBook
  readonly last: KnownList
  readonly bytes: Buffer
  readonly from: number
}

type ListResult =
  | { readonly ok: true; readonly list: KnownList }
  | { readonly ok: false; readonly fault: PeerListFault }

function readList(reading: Reading): ListResult {
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

/** An offset in the bytes, and the first peer of the previous list that can follow there. */
interface Cursor {
  readonly at: number
  readonly peer: number
}

/** `first`: node id of the first peer that was read. */
type Taken =
  | ({ readonly ok: true; readonly first: string } & Cursor)
  | { readonly ok: false; readonly fault: PeerListFault }

/** Reuses the unchanged peers at the cursor, or parses one peer. */
function takeNext({ book, last, bytes }: Reading, list: GrowingList, { at, peer }: Cursor): Taken {
  const same = sameFrom(last, peer, { bytes, at })
  if (same > 0) {
    const after = list.append(last, { from: peer, to: peer + same, at })
    return { ok: true, first: idOf(book, last.numbers[peer]), at: after, peer: peer + same }
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

/** Number of consecutive peers of the previous list, from `peer` on, with the same bytes at the offset. */
function sameFrom(
  last: KnownList,
  peer: number,
  { bytes, at }: { readonly bytes: Buffer; readonly at: number },
): number {
  const { starts, numbers } = last
  const moved = at - (starts[peer] ?? 0)
  const isSame = (from: number, to: number): boolean => {
    if (to > numbers.length) return false
    // Compares the comma before `from`, unless it is the first peer, but not the byte after the last peer, which may differ.
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
  return { ok: true, facts: factsOf(parsed.value), end }
}

/** Only the compared members: a pull may contain more. */
function factsOf({ name = '', groups = [], candidates = [], subnets = [], ...peer }: PulledPeer): PeerFacts {
  const { node_id, public_key, mesh_address, endpoint, fallback_endpoint: fallback, psk_issued_at } = peer
  const facts = { node_id, name, public_key, mesh_address, endpoint, psk_issued_at, groups, candidates, subnets }
  return fallback === undefined ? facts : { ...facts, fallback_endpoint: fallback }
}

/** Members that older servers leave out, and others where a peer has none of them. */
type Optional = 'groups' | 'name' | 'candidates' | 'subnets'

/** A peer of a pull. */
type PulledPeer = Omit<PeerFacts, Optional> & Partial<Pick<PeerFacts, Optional>>

function isPeer(peer: unknown): peer is PulledPeer {
  if (typeof peer !== 'object' || peer === null) return false
  const members = peer as Readonly<Record<keyof PeerFacts, unknown>>
  const { node_id, public_key, mesh_address, endpoint, psk_issued_at } = members
  return (
    [node_id, public_key, mesh_address].every((text) => isText(text) && text !== '') &&
    isText(endpoint) &&
    isText(node_id) &&
    isNonZeroUuid(node_id) &&
    isText(psk_issued_at) &&
    isPskIssuedAt(psk_issued_at) &&
    isTextOrAbsent(members.fallback_endpoint) &&
    hasNewerMembers(members)
  )
}

/** Whether the members that may be left out are absent or valid. */
function hasNewerMembers({ name, groups, candidates, subnets }: Readonly<Record<Optional, unknown>>): boolean {
  if (!isTextOrAbsent(name)) return false
  if (groups !== undefined && !areGroups(groups)) return false
  return [candidates, subnets].every((texts) => texts === undefined || (Array.isArray(texts) && texts.every(isText)))
}

/** Whether a value is a list of groups in ascending order, each once. */
function areGroups(groups: unknown): boolean {
  if (!Array.isArray(groups) || !groups.every(isGroup)) return false
  return groups.every((group, index) => index === 0 || group > (groups[index - 1] ?? 0))
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value)

/** A list that grows while it is read. */
class GrowingList {
  #starts: Uint32Array
  #numbers: Uint32Array
  #size = 0

  constructor(capacity: number) {
    this.#starts = new Uint32Array(capacity + 1)
    this.#numbers = new Uint32Array(capacity)
  }

  add(number: number, start: number): void {
    this.#grow(this.#size + 1)
    this.#numbers[this.#size] = number
    this.#starts[this.#size] = start
    this.#size += 1
  }

  /** Appends peers of a previous list, which begin at the offset `at` here. Returns the offset after the last of them. */
  append(known: KnownList, { from, to, at }: { readonly from: number; readonly to: number; readonly at: number }) {
    const moved = at - (known.starts[from] ?? 0)
    this.#grow(this.#size + to - from)
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

  #grow(size: number): void {
    if (size <= this.#numbers.length) return
    const [starts, numbers] = [new Uint32Array(2 * size + 1), new Uint32Array(2 * size)]
    starts.set(this.#starts)
    numbers.set(this.#numbers)
    ;[this.#starts, this.#numbers] = [starts, numbers]
  }
}
