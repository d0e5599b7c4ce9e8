import { newMember, type KeyedMember, type Member } from '../../client/agent/member.ts'
import type { HeldStream } from '../../client/agent/events/held-stream.ts'
import { DEFAULT_BINARIES, startBinary, type Binary } from './binary.ts'
import type { NodeIdentity } from './state-directory.ts'

/** A node of the running fleet, whichever agent it has. */
export interface FleetNode extends KeyedMember {
  /** Index in the fleet, from 0, in the order of joining. */
  readonly place: number
  identity: NodeIdentity
  /** Time of the last accepted heartbeat, by the server's clock. */
  lastAcceptedMs: number | undefined
  /** Undefined before the stream is opened. */
  stream: HeldStream | undefined
  /** Replaced by an upgrade. */
  binary: Binary
  /** Its public `host:port`. */
  endpoint: string
  faults: InjectedFaults
}

/** A node with a full agent. */
export interface SimulatedNode extends Member, FleetNode {
  identity: NodeIdentity
  /** Name of the hook that was altered; undefined while none is. */
  alteredHook: string | undefined
  /** Number of its state reports on the server. */
  reports: number
  /** A report of a workload is being put or deleted. */
  isReporting: boolean
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
    ...newMember(),
    place,
    identity,
    lastAcceptedMs: undefined,
    stream: undefined,
    binary: identity.binary ?? startBinary(binaries, place),
    alteredHook: undefined,
    endpoint: firstEndpoint(place),
    reports: 0,
    isReporting: false,
    faults: NO_FAULTS,
  }
}

/** Ends the event streams of the nodes. */
export async function stopStreams(nodes: readonly FleetNode[]): Promise<void> {
  await Promise.all(nodes.map(async ({ stream }) => stream?.stop()))
}

/** An address of the benchmarking network (RFC 2544), distinct for up to 131,072 nodes. */
export function firstEndpoint(place: number): string {
  return `198.${18 + ((place >> 16) & 1)}.${(place >> 8) & 255}.${place & 255}:51820`
}

/** Ages of the last heartbeat at which the server changes a node's state (S0 Limits: heartbeat staleness). */
const STALE_AFTER_MS = 90_000
const UNREACHABLE_AFTER_MS = 300_000

/** Number of nodes per reachability state, computed as the server does from accepted heartbeats. */
export function tallyReachability(nodes: readonly FleetNode[], nowMs: number): Readonly<Record<string, number>> {
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
