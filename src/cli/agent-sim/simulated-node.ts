import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import type { HeldStream } from './held-stream.ts'
import type { PeerView } from './peer-view.ts'
import type { NodeIdentity } from './state-directory.ts'

/** A node of the fleet while it runs. */
export interface SimulatedNode {
  /** From 0, in the order in which nodes joined the fleet. */
  readonly place: number
  /** Replaced when one of its keys is. */
  identity: NodeIdentity
  /** When the server last accepted a heartbeat of it, by the server's clock. */
  lastAcceptedMs: number | undefined
  /** While it holds its event stream. */
  stream: HeldStream | undefined
  /** `host:port` under which it is seen from outside. */
  endpoint: string
  /** What it holds of its Domain; undefined before its first pull. */
  view: PeerView | undefined
  /** Of the last pull that was taken. */
  etag: string | undefined
  readonly pulling: Pulling
  /** By peer: the epoch in force of each sampled edge. Undefined before the first. */
  edges: Map<string, EdgeEpoch> | undefined
  /** Edges whose key is being fetched; those asked for meanwhile are fetched again. */
  readonly fetching: Map<string, 'once' | 'again'>
  isRotating: boolean
  /** A digest of its epochs is due; and the one that was reported last. */
  isDigestDue: boolean
  lastDigest: string | undefined
  /** State reports that it has put and not deleted. */
  reports: number
  /** Executions and sessions that it has seen to, the latest ones. */
  readonly seen: Set<string>
  /** Its secret keys were revoked: refusals are what it gets. */
  isCutOff: boolean
  faults: InjectedFaults
}

export interface Pulling {
  /** `due`: it waits for its turn; `running`: the answer is on its way; `again`: that, and another one is wanted. */
  state: 'idle' | 'due' | 'running' | 'again'
  /** Peers of which an event told while the answer was on its way: which of the two is newer is not known. */
  readonly told: Set<string>
}

/** The faults that a scenario injects into the node. */
export interface InjectedFaults {
  /** ms by which its clock is ahead. */
  readonly skewMs: number
  /** It makes each call twice, in one order or the other. */
  readonly repeats: 'no' | 'doubled' | 'reordered'
}

export const NO_FAULTS: InjectedFaults = { skewMs: 0, repeats: 'no' }

/** Makes the node of an identity. */
export function simulatedNode(identity: NodeIdentity, place: number): SimulatedNode {
  return {
    place,
    identity,
    lastAcceptedMs: undefined,
    stream: undefined,
    endpoint: firstEndpoint(place),
    view: undefined,
    etag: undefined,
    pulling: { state: 'idle', told: new Set() },
    edges: undefined,
    fetching: new Map(),
    isRotating: false,
    isDigestDue: false,
    lastDigest: undefined,
    reports: 0,
    seen: new Set(),
    isCutOff: false,
    faults: NO_FAULTS,
  }
}

/** An address of the network that is set aside for benchmarks (RFC 2544), another one for each of 131,072 nodes. */
function firstEndpoint(place: number): string {
  return `198.${18 + ((place >> 16) & 1)}.${(place >> 8) & 255}.${place & 255}:51820`
}

/** Ages at which a silent node changes its state (S0 Limits: heartbeat staleness). */
const STALE_AFTER_MS = 90_000
const UNREACHABLE_AFTER_MS = 300_000

/** Counts the nodes by the state that the server gives them, from the heartbeats that it accepted. */
export function tallyReachability(nodes: readonly SimulatedNode[], nowMs: number): Readonly<Record<string, number>> {
  const tally = { never_reported: 0, healthy: 0, stale: 0, unreachable: 0 }
  for (const { lastAcceptedMs } of nodes) tally[stateOf(lastAcceptedMs, nowMs)]++
  return tally
}

function stateOf(
  lastAcceptedMs: number | undefined,
  nowMs: number,
): 'never_reported' | 'healthy' | 'stale' | 'unreachable' {
  if (lastAcceptedMs === undefined) return 'never_reported'
  const ageMs = nowMs - lastAcceptedMs
  if (ageMs < STALE_AFTER_MS) return 'healthy'
  return ageMs < UNREACHABLE_AFTER_MS ? 'stale' : 'unreachable'
}
