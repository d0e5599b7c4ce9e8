import type { PeerStatus } from '../device/device.ts'
import { dueForMs, type Hearing } from './path-hearing.ts'

/** A peer, and the ways to it. */
export interface PathPeer {
  readonly nodeId: string
  readonly status: PeerStatus
  /** Direct endpoint by the server; empty where it gives none. */
  readonly given: string
  /** Relays by which it may be reached, the one that the server names first. Without those of this machine itself. */
  readonly relays: readonly string[]
}

/** What is known of the way to a peer. */
export interface Path {
  readonly hearing: Hearing
  /** The relay by which it was reached at the last look. */
  readonly relay: string | undefined
  /** When the agent chose this relay or this endpoint. */
  readonly sinceMs: number
  /** The agent set the endpoint at the last look: it may not be that of a packet. */
  readonly isPlaced: boolean
  readonly probe: Probe | undefined
  /** When a probe last found the direct way. */
  readonly foundMs: number | undefined
  /** The endpoint from which a packet last came directly. */
  readonly direct: string | undefined
  /** Probes since it was reached directly. */
  readonly probes: number
}

/** A try of the direct way, by a peer that is reached through a relay. */
export interface Probe {
  readonly back: string
  readonly untilMs: number
}

/** What is done for a peer. */
export type Step =
  | { readonly act: 'stay' }
  /** Sends a packet, so that the far end takes this address. */
  | { readonly act: 'wake' }
  /** Sends in the present session, or a new handshake (`isRenewed`), to that endpoint. */
  | { readonly act: 'move'; readonly to: string; readonly isRenewed: boolean; readonly probe: Probe | undefined }
  /** The direct way carries packets: the probe is over. */
  | { readonly act: 'found' }
  /** It does not, or not now: the probe is over, and the tunnel is at the relay already. */
  | { readonly act: 'lost' }

/** What a step depends on. */
export interface StepFacts {
  readonly peer: PathPeer
  readonly path: Path
  readonly before: Path | undefined
  /** The direct way that it is time to try; undefined: none. */
  readonly probeTo: string | undefined
  /** Whether the device has a session with the peer. */
  readonly isInSession: boolean
  /** By the clock that is never set. */
  readonly nowMs: number
}

/** A handshake is repeated every 5 s: two tries. In a session an answer comes after 10 s at the latest. */
const HANDSHAKE_DUE_MS = 10_000
const ANSWER_DUE_MS = 10_500
/** Another relay is tried after it, where the two ends may have begun with different ones. */
const RELAY_DUE_MS = 5_000
/** An edge is held on a probe for so long at most (decisions of the mesh, "Relay"). */
const HOLD_MS = 1_000
/** With traffic an answer comes with its next packets. */
const BUSY_HOLD_MS = 400
const BUSY_MS = 1_000
/** Packets that were on their way lead back to the relay for a moment after a probe that found the direct way. */
const SETTLING_MS = 5_000

const STAY: Step = { act: 'stay' }

/** What is to be done for a peer now. `path.relay` is that of the device's endpoint. */
export function stepOf(facts: StepFacts): Step {
  if (facts.path.probe !== undefined) return probeStep(facts, facts.path.probe)
  return facts.path.relay === undefined ? directStep(facts) : relayedStep(facts, facts.path.relay)
}

function directStep({ peer, path, before, isInSession, nowMs }: StepFacts): Step {
  const { status, given, relays } = peer
  const [relay] = relays
  // The far end tries the direct way, and waits for an answer on it.
  if (before?.relay !== undefined && !before.isPlaced) return { act: 'wake' }
  if (relay === undefined) return STAY
  if (status.endpoint === undefined) return given === '' ? withHandshake(relay) : STAY
  const limitMs = isInSession ? ANSWER_DUE_MS : HANDSHAKE_DUE_MS
  return dueForMs(path.hearing, nowMs) >= limitMs ? withHandshake(relay) : STAY
}

function relayedStep(facts: StepFacts, relay: string): Step {
  const { peer, path, nowMs } = facts
  if (!peer.relays.includes(relay)) return leave(peer)
  const isSettled = nowMs - path.sinceMs >= RELAY_DUE_MS
  const direct = peer.given === '' ? STAY : towardsDirect(facts, relay, isSettled)
  if (direct.act !== 'stay') return direct
  return isSettled && dueForMs(path.hearing, nowMs) >= RELAY_DUE_MS ? nextRelay(peer, relay) : STAY
}

/** `isSettled`: the handshake at the relay has had its time. */
function towardsDirect({ peer, path, probeTo, nowMs }: StepFacts, relay: string, isSettled: boolean): Step {
  const { direct = peer.given, foundMs } = path
  // Both ends change sides until the last packets of the relay have come: a new session has none of them.
  if (foundMs !== undefined && nowMs - foundMs < SETTLING_MS) return withHandshake(direct)
  return probeTo !== undefined && isSettled ? probe({ to: probeTo, back: relay }, path.hearing, nowMs) : STAY
}

function nextRelay({ relays }: PathPeer, relay: string): Step {
  const next = relays[(relays.indexOf(relay) + 1) % relays.length]
  return next === undefined || next === relay ? STAY : withHandshake(next)
}

/** Its relay is gone. */
function leave({ relays: [relay], given }: PathPeer): Step {
  const to = relay ?? given
  return to === '' ? STAY : withHandshake(to)
}

function probeStep({ path, before, nowMs }: StepFacts, held: Probe): Step {
  if (hasDirectPacket(path, before, nowMs)) return { act: 'found' }
  if (nowMs < held.untilMs) return STAY
  return path.relay === undefined ? { act: 'move', to: held.back, isRenewed: false, probe: undefined } : { act: 'lost' }
}

/** The device takes the address of each packet, so one came directly if it left the relay by itself, or has counted more since then. */
function hasDirectPacket(path: Path, before: Path | undefined, nowMs: number): boolean {
  if (path.relay !== undefined || before === undefined || before.isPlaced) return false
  return before.relay !== undefined || path.hearing.heardMs === nowMs
}

function withHandshake(to: string): Step {
  return { act: 'move', to, isRenewed: true, probe: undefined }
}

function probe(
  { to, back }: { readonly to: string; readonly back: string },
  { heardMs }: Hearing,
  nowMs: number,
): Step {
  const holdMs = nowMs - heardMs < BUSY_MS ? BUSY_HOLD_MS : HOLD_MS
  return { act: 'move', to, isRenewed: false, probe: { back, untilMs: nowMs + holdMs } }
}
