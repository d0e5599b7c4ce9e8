import type { Cidr } from '../../../shared/networks/cidr.ts'
import { hasSession } from '../device/session-age.ts'
import { isInside } from '../server-answers/mesh-network.ts'
import { isSameEndpoint, parseEndpoint } from './endpoint-address.ts'
import type { ReachablePeer } from './lost-peers.ts'
import type { PathClock } from './path-clock.ts'

/** A network of an interface of this machine. */
export interface LocalNetwork {
  /** Of this machine in it. */
  readonly address: string
  readonly cidr: Cidr
}

/** Seeks a direct path to peers without a session. */
export interface DirectSearch {
  /** The endpoints to try now, by node id. Call it at least every second while `isActive`. */
  look(peers: readonly ReachablePeer[]): ReadonlyMap<string, string>
  /** Whether a try is under way. */
  isActive(): boolean
}

/** Time for a handshake where there was a session, or at another endpoint that the device has: they are repeated for 10 s after a change of keys. */
const PRESENT_MS = 10_000
/** Time for a handshake at the endpoint of the server. */
const ENDPOINT_MS = 3_000
/** Time for a handshake at a candidate. */
const CANDIDATE_MS = 2_000
/** Pause after all of them, with the endpoint of the server in force. It doubles up to the longest one. */
const REST_MS = 30_000
const REST_MS_MAX = 600_000

interface Search {
  /** What the server gave. A search begins again where that changes. */
  readonly facts: string
  /** Place in the ways of what the device has now; -1: another endpoint than the first way; their number: at rest. */
  readonly place: number
  readonly sinceMs: number
  readonly restMs: number
}

/**
 * Makes the search. While no handshake completes, it tries the ways to a peer one after another, then it stays with the first one
 * for a while. It does nothing for a peer with a session, and for one without candidates.
 */
export function createDirectSearch({ now, steady }: PathClock, networks: () => readonly LocalNetwork[]): DirectSearch {
  let searches: ReadonlyMap<string, Search> = new Map()
  /** Ids of the peers that had a session at the last look. */
  let heard: ReadonlySet<string> = new Set()
  let isActive = false

  return {
    look(peers) {
      const silent = peers.filter((peer) => peer.candidates.length > 0 && !hasSession(peer.status, now()))
      const local = silent.length === 0 ? [] : networks()
      const steps = silent.map((peer) => {
        const ways = directWays(peer, local)
        return {
          nodeId: peer.nodeId,
          ways,
          ...stepOf(searches.get(peer.nodeId), { peer, ways, wasHeard: heard.has(peer.nodeId), nowMs: steady() }),
        }
      })
      heard = new Set(peers.filter(({ status }) => hasSession(status, now())).map(({ nodeId }) => nodeId))
      searches = new Map(steps.map(({ nodeId, search }) => [nodeId, search]))
      isActive = steps.some(({ search, ways }) => search.place < ways.length)
      return new Map(steps.flatMap(({ nodeId, way }) => (way === undefined ? [] : [[nodeId, way] as const])))
    },
    isActive: () => isActive,
  }
}

/**
 * The endpoints at which a peer may be reached directly, in the order of their tries: that of the server, candidates of a network
 * that this machine is in too, then the others. Candidates with an address of this machine, and those of a family that it has no
 * address of, are left out.
 */
export function directWays(
  { given, candidates }: Pick<ReachablePeer, 'given' | 'candidates'>,
  networks: readonly LocalNetwork[],
): readonly string[] {
  const others = candidates.filter((candidate) => isWay(candidate, networks) && !isSameEndpoint(candidate, given))
  const near = others.filter((candidate) => isNear(candidate, networks))
  return [...(given === '' ? [] : [given]), ...near, ...others.filter((candidate) => !near.includes(candidate))]
}

function isWay(candidate: string, networks: readonly LocalNetwork[]): boolean {
  const host = parseEndpoint(candidate)?.host
  if (host === undefined || networks.some(({ address }) => address === host)) return false
  return networks.some(({ address }) => address.includes(':') === host.includes(':'))
}

function isNear(candidate: string, networks: readonly LocalNetwork[]): boolean {
  const host = parseEndpoint(candidate)?.host ?? ''
  return networks.some(({ cidr }) => isInside(host, cidr))
}

interface Moment {
  readonly peer: ReachablePeer
  readonly ways: readonly string[]
  /** Whether it had a session a moment ago. */
  readonly wasHeard: boolean
  readonly nowMs: number
}

interface Step {
  readonly search: Search
  /** Undefined: the device keeps what it has. */
  readonly way?: string | undefined
}

function stepOf(before: Search | undefined, moment: Moment): Step {
  const { peer, ways, wasHeard, nowMs } = moment
  const facts = ways.join(' ')
  if (before === undefined || before.facts !== facts) {
    return { search: { facts, place: wasHeard ? -1 : firstPlace(peer, ways), sinceMs: nowMs, restMs: REST_MS } }
  }
  if (nowMs - before.sinceMs < timeAt(before, ways.length)) return { search: before }
  return nextStep(before, moment)
}

function timeAt({ place, restMs }: Search, count: number): number {
  if (place >= count) return restMs
  if (place < 0) return PRESENT_MS
  return place === 0 ? ENDPOINT_MS : CANDIDATE_MS
}

/** Without other ways than the endpoint there is nothing to try. */
function firstPlace({ status }: ReachablePeer, ways: readonly string[]): number {
  const [first] = ways
  if (first === undefined || !isSameEndpoint(status.endpoint ?? '', first)) return -1
  return ways.length > 1 ? 0 : ways.length
}

function nextStep(before: Search, { peer, ways, nowMs }: Moment): Step {
  const isRested = before.place >= ways.length
  const restMs = isRested ? Math.min(before.restMs * 2, REST_MS_MAX) : before.restMs
  // The endpoint of the server had all of the rest.
  const place = isRested ? Math.min(1, ways.length) : before.place + 1
  const search = { ...before, place, sinceMs: nowMs, restMs }
  const way = place < ways.length ? ways[place] : ways[0]
  return { search, way: isSameEndpoint(way ?? '', peer.status.endpoint ?? '') ? undefined : way }
}
