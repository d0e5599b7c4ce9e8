import type { EndpointMove, PeerStatus } from '../device/device.ts'
import { hasSession } from '../device/session-age.ts'
import type { PlacedEndpoint } from '../tunnel/plan-tunnel.ts'
import { directWays, type LocalNetwork } from './candidates.ts'
import type { PathClock } from './path-clock.ts'
import { hear, type Hearing } from './path-hearing.ts'
import { stepOf, type Path, type PathPeer, type Step } from './path-steps.ts'
import { canonical, type RelayAddresses } from './relay-addresses.ts'

/** How packets reach a peer. */
export interface PeerWay {
  /** `none`: there is no session. */
  readonly way: 'direct' | 'relayed' | 'none'
  /** `address:port` of the relay; undefined where there is none. */
  readonly relay: string | undefined
}

/** A peer, with what the server gives. */
export interface ReachedPeer extends Omit<PathPeer, 'relays'> {
  /** Further addresses that the server gives. */
  readonly candidates: readonly string[]
  /** The relay of the edges to the peer; undefined where there is none. */
  readonly fallback: string | undefined
}

/** The choice between the direct way to each peer and that through a relay. */
export interface Paths {
  /** Takes what the device has now. Returns the changes to make. */
  look(peers: readonly ReachedPeer[]): PathChanges
  /** Whether the way to the peer is chosen here alone: it is relayed, a direct way is tried, or the last look has moved it. */
  isChosen(nodeId: string): boolean
  /** The endpoint that was set for it last, unless it led back to a relay. */
  placedOf(nodeId: string): PlacedEndpoint | undefined
  wayOf(nodeId: string, status: PeerStatus): PeerWay
  /** How soon the next look is due; undefined: no peer has a relay. */
  pauseMs(): number | undefined
}

/** What the device is to change: moves first. */
export interface PathChanges {
  readonly moves: readonly EndpointMove[]
  /** Public keys of peers that are sent a packet. */
  readonly wakes: readonly string[]
  /** The choices among them, for the log: a try of a direct way is none. */
  readonly choices: readonly PathChoice[]
}

/** The endpoint at which a peer is to be reached from now on. */
export interface PathChoice {
  readonly nodeId: string
  readonly endpoint: string
}

/** What the paths need. */
export interface PathsDeps extends PathClock {
  readonly relays: RelayAddresses
  /** Whether this machine itself is that relay. */
  readonly isOwnRelay: (endpoint: string) => boolean
  /** Those of this machine. */
  readonly networks: () => readonly LocalNetwork[]
  readonly random: () => number
}

/** All direct ways are tried together, so that the device is read often for a second only. */
const PROBE_EVERY_MS = 15_000
const JITTER = 0.2
const PROBING_LOOK_MS = 100
/** The far end holds its edge for a second, and waits for a packet. */
const RELAYED_LOOK_MS = 400
const LOOK_MS = 1_000
/** Relays that are tried for one peer. */
const RELAYS_MAX = 4

/** Makes it. Nothing is known of any peer. */
export function createPaths({ relays, isOwnRelay, networks, now, steady, random }: PathsDeps): Paths {
  let paths: ReadonlyMap<string, Path> = new Map()
  let placed: ReadonlyMap<string, PlacedEndpoint> = new Map()
  let hasRelays = false
  /** Of the mesh, without those of this machine, as of the last look: whether one is its own is not asked for each peer. */
  let usable: ReadonlySet<string> = new Set()
  let common: readonly string[] = []
  let probeMs = steady() + PROBE_EVERY_MS

  /**
   * The far end may prefer another relay than the given one, and wait there. The one that carries the edge now stays among them, though
   * it would not be tried: else two ends that know more relays than they try could send each other to and fro.
   */
  function relaysOf(fallback: string | undefined, present: string | undefined): readonly string[] {
    const given = canonical(fallback)
    if (given === undefined) return []
    const wanted = [given, ...common]
    const tried = [...new Set(wanted)].filter((each) => usable.has(each)).slice(0, RELAYS_MAX)
    const isKept = present !== undefined && usable.has(present) && !tried.includes(present)
    return isKept ? [...tried, present] : tried
  }

  function pathOf({ nodeId, status }: ReachedPeer, nowMs: number): Path {
    const before = paths.get(nodeId)
    const relay = relays.has(status.endpoint) ? canonical(status.endpoint) : undefined
    const hearing = hear(before?.hearing, status, nowMs)
    const isDirect = relay === undefined && before?.isPlaced === false && hearing.heardMs === nowMs
    const direct = (isDirect ? canonical(status.endpoint) : undefined) ?? before?.direct
    const unknown = { sinceMs: nowMs, isPlaced: false, probe: undefined, foundMs: undefined, probes: 0 }
    return { ...unknown, ...before, relay, hearing, direct }
  }

  /**
   * Every other time the way that worked last, and the others in turn: `candidates` may be the only direct ones, as behind a NAT that
   * returns nothing to its own address.
   */
  function wayToTry(peer: ReachedPeer, { direct, probes }: Path, local: readonly LocalNetwork[]): string | undefined {
    if (peer.given === '') return undefined
    const all = [direct, peer.given, ...directWays(peer, local)].map(canonical)
    const [first, ...others] = new Set(all.filter((way) => way !== undefined && !relays.has(way)))
    return probes % 2 === 0 ? first : (others[Math.floor(probes / 2) % others.length] ?? first)
  }

  function decide(peer: ReachedPeer, local: readonly LocalNetwork[] | undefined, nowMs: number): Decision {
    const { nodeId, status } = peer
    const path = pathOf(peer, nowMs)
    const given = relays.has(peer.given) ? '' : peer.given
    const of: PathPeer = { nodeId, status, given, relays: relaysOf(peer.fallback, path.relay) }
    const probeTo = local === undefined || path.relay === undefined ? undefined : wayToTry(peer, path, local)
    const isInSession = hasSession(status, now())
    const step = stepOf({ peer: of, path, before: paths.get(nodeId), probeTo, isInSession, nowMs })
    return { nodeId, status, step, path: after(path, step, nowMs) }
  }

  return {
    look(peers) {
      const nowMs = steady()
      const isProbeDue = nowMs >= probeMs
      if (isProbeDue) probeMs = nowMs + PROBE_EVERY_MS * (1 - JITTER * random())
      hasRelays = peers.some(({ fallback }) => fallback !== undefined)
      usable = new Set(relays.present().filter((each) => !isOwnRelay(each)))
      common = [...usable].slice(0, RELAYS_MAX)
      const local = isProbeDue && hasRelays ? networks() : undefined
      const decisions = peers.map((peer) => decide(peer, local, nowMs))
      paths = new Map(decisions.map(({ nodeId, path }) => [nodeId, path]))
      placed = new Map(decisions.flatMap((decision) => placedBy(decision, placed)))
      return changesOf(decisions)
    },
    isChosen(nodeId) {
      const path = paths.get(nodeId)
      return path !== undefined && (path.isPlaced || (path.relay ?? path.probe) !== undefined)
    },
    placedOf: (nodeId) => placed.get(nodeId),
    wayOf(nodeId, status) {
      const relay = paths.get(nodeId)?.probe?.back ?? (relays.has(status.endpoint) ? status.endpoint : undefined)
      if (!hasSession(status, now())) return { way: 'none', relay: undefined }
      return { way: relay === undefined ? 'direct' : 'relayed', relay }
    },
    pauseMs() {
      if (!hasRelays) return undefined
      const all = [...paths.values()]
      if (all.some(({ probe }) => probe !== undefined)) return PROBING_LOOK_MS
      return all.some(({ relay }) => relay !== undefined) ? RELAYED_LOOK_MS : LOOK_MS
    },
  }
}

interface Decision {
  readonly nodeId: string
  readonly status: PeerStatus
  readonly step: Step
  readonly path: Path
}

function after(seen: Path, step: Step, nowMs: number): Path {
  const path = { ...seen, isPlaced: step.act === 'move', hearing: hearingAfter(seen.hearing, step) }
  if (step.act === 'found') return { ...path, probe: undefined, foundMs: nowMs, probes: 0 }
  if (step.act === 'lost') return { ...path, probe: undefined }
  if (step.act !== 'move') return path
  const probes = path.probes + (step.probe === undefined ? 0 : 1)
  return { ...path, probe: step.probe, foundMs: undefined, sinceMs: nowMs, probes }
}

/** What was not answered before a new handshake says nothing of the other way. A packet in the session is empty: nothing answers it. */
function hearingAfter(hearing: Hearing, step: Step): Hearing {
  if (step.act === 'stay' || step.act === 'found') return hearing
  if (step.act !== 'move' || !step.isRenewed) return { ...hearing, wakes: hearing.wakes + 1 }
  return { ...hearing, receivedBytes: 0, sentBytes: 0, askedMs: undefined, wakes: 0 }
}

function placedBy(
  { nodeId, status, step }: Decision,
  before: ReadonlyMap<string, PlacedEndpoint>,
): readonly (readonly [string, PlacedEndpoint])[] {
  const known = before.get(nodeId)
  if (step.act !== 'move') return known === undefined ? [] : [[nodeId, known]]
  return [[nodeId, { endpoint: step.to, receivedBytes: step.isRenewed ? 0 : status.receivedBytes }]]
}

function changesOf(decisions: readonly Decision[]): PathChanges {
  const moves = decisions.flatMap(({ step, status: { publicKey } }) =>
    step.act === 'move' ? [{ publicKey, endpoint: step.to, isRenewed: step.isRenewed }] : [],
  )
  const wakes = decisions.flatMap(({ step: { act }, status }) =>
    act === 'wake' || act === 'lost' ? [status.publicKey] : [],
  )
  const choices = decisions.flatMap(({ nodeId, step, status }) => {
    if (step.act === 'found') return [{ nodeId, endpoint: status.endpoint ?? '' }]
    return step.act === 'move' && step.isRenewed ? [{ nodeId, endpoint: step.to }] : []
  })
  return { moves, wakes, choices }
}
