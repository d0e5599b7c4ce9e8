import type { OwnPolicies } from '../../client/agent/own-policies.ts'
import { DEFAULT_BINARIES, startBinary, type Binary } from './binary.ts'
import type { OwnBridges } from '../../client/agent/own-bridges.ts'
import type { SecretVersions } from '../../shared/bridges/host-report.ts'
import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import type { Outcome } from './outcome.ts'
import type { HeldStream } from './held-stream.ts'
import type { PeerView } from './peer-view.ts'
import type { NodeIdentity } from './state-directory.ts'

/** A node of the running fleet. */
export interface SimulatedNode {
  /** Index in the fleet, from 0, in the order of joining. */
  readonly place: number
  /** Replaced when one of its keys changes. */
  identity: NodeIdentity
  /** Time of the last accepted heartbeat, by the server's clock. */
  lastAcceptedMs: number | undefined
  /** Undefined before the stream is opened. */
  stream: HeldStream | undefined
  /** Replaced by an upgrade. */
  binary: Binary
  /** Name of the hook that was altered; undefined while none is. */
  alteredHook: string | undefined
  /** Its public `host:port`. */
  endpoint: string
  /** The peers that it knows; undefined before the first pull. */
  view: PeerView | undefined
  /** The policies that match it; undefined before the first pull. */
  policies: OwnPolicies | undefined
  /** The bridges that it hosts; undefined before the first pull or event. */
  bridges: OwnBridges | undefined
  /** What it runs for each bridge, by resource id, as it reports it. */
  readonly hosted: Map<string, HostedBridge>
  /** Bridges that are being applied, by resource id. `again`: another try was requested meanwhile. */
  readonly applying: Map<string, 'once' | 'again'>
  /** Bridges whose secrets are to be fetched again. */
  readonly refetching: Set<string>
  /** `ETag` of the last applied pull. */
  etag: string | undefined
  readonly pulling: Pulling
  /** The current epoch of each sampled edge, by peer id. Undefined before the first. */
  edges: Map<string, EdgeEpoch> | undefined
  /** Edges whose key is being fetched, by peer id. `again`: another fetch was requested meanwhile. */
  readonly fetching: Map<string, 'once' | 'again'>
  isRotating: boolean
  /** A report of its epoch digest is scheduled. */
  isDigestDue: boolean
  /** The last reported digest. */
  lastDigest: string | undefined
  /** Number of its state reports on the server. */
  reports: number
  /** A report of a workload is being put or deleted. */
  isReporting: boolean
  /** Reports that the server has refused for now, by name. The newest is sent when the wait is over. */
  readonly deferred: Map<string, () => Promise<Outcome<unknown>>>
  /** No report before that time, which the server asked for. */
  deferredUntilMs: number
  /** Ids of the latest executions and sessions that it has handled. */
  readonly seen: Set<string>
  /** Its secret keys were revoked, so refusals are expected. */
  isRevoked: boolean
  faults: InjectedFaults
}

export interface Pulling {
  /** `due`: scheduled; `running`: the request is open; `again`: the request is open and another pull is wanted. */
  state: 'idle' | 'due' | 'running' | 'again'
  /** Peers that events changed during the pull. Whether the event or the answer is newer is unknown. */
  readonly changedPeers: Set<string>
  /** Policies that events changed during the pull, likewise. */
  readonly changedPolicies: Set<string>
  /** Bridges that events changed during the pull, likewise. */
  readonly changedBridges: Set<string>
}

/** What a host runs for a bridge. */
export interface HostedBridge {
  /** Of the applied configuration; null before the first. */
  readonly fingerprint: string | null
  /** Version of each fetched secret, by reference. */
  readonly secrets: SecretVersions
  readonly appliedAt: string | null
  /** Why it does not run the newest configuration with all of its secrets. */
  readonly error: string | undefined
}

/** The faults that a scenario injects into a node. */
export interface InjectedFaults {
  /** How far its clock is ahead, in ms. */
  readonly skewMs: number
  /** `doubled`: it makes each call twice at once; `reordered`: the second call has an older timestamp. */
  readonly repeats: 'no' | 'doubled' | 'reordered'
  /** It cannot apply configurations of bridges. */
  readonly failsBridges: boolean
}

export const NO_FAULTS: InjectedFaults = { skewMs: 0, repeats: 'no', failsBridges: false }

/** Makes the node with that identity. A stored node runs what it ran before; any other one the binary of the plan. */
export function simulatedNode(identity: NodeIdentity, place: number, binaries = DEFAULT_BINARIES): SimulatedNode {
  return {
    place,
    identity,
    lastAcceptedMs: undefined,
    stream: undefined,
    binary: identity.binary ?? startBinary(binaries, place),
    alteredHook: undefined,
    endpoint: firstEndpoint(place),
    view: undefined,
    policies: undefined,
    bridges: undefined,
    hosted: new Map(),
    applying: new Map(),
    refetching: new Set(),
    etag: undefined,
    pulling: { state: 'idle', changedPeers: new Set(), changedPolicies: new Set(), changedBridges: new Set() },
    edges: undefined,
    fetching: new Map(),
    isRotating: false,
    isDigestDue: false,
    lastDigest: undefined,
    reports: 0,
    isReporting: false,
    deferred: new Map(),
    deferredUntilMs: 0,
    seen: new Set(),
    isRevoked: false,
    faults: NO_FAULTS,
  }
}

/** An address of the benchmarking network (RFC 2544), distinct for up to 131,072 nodes. */
function firstEndpoint(place: number): string {
  return `198.${18 + ((place >> 16) & 1)}.${(place >> 8) & 255}.${place & 255}:51820`
}

/** Ages of the last heartbeat at which the server changes a node's state (S0 Limits: heartbeat staleness). */
const STALE_AFTER_MS = 90_000
const UNREACHABLE_AFTER_MS = 300_000

/** Number of nodes per reachability state, computed as the server does from accepted heartbeats. */
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
