import type { AgentCore } from '../agent-core.ts'
import type { IngressRow } from '../bridges/ingress/ingress-rows.ts'
import { DEFAULT_LISTEN } from '../bridges/ingress/listen-address.ts'
import { reasonOf } from '../errors.ts'
import type { RuleCounter } from '../firewall/firewall.ts'
import type { DeviceStatus, PeerStatus } from '../device/device.ts'
import type { PeerWay } from '../endpoints/paths.ts'
import type { Machine } from '../machine.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** What the agent answers to `status`. */
export interface AgentStatus {
  readonly state: 'running' | 'waiting'
  readonly pid: number
  readonly version: string
  readonly started_at: string
  readonly node_id: string
  readonly name: string
  readonly mesh_address: string
  readonly mesh_cidr: string | null
  readonly server: {
    readonly url: string
    readonly reachable: boolean | null
    readonly since: string
    /** Whether the event stream is open. */
    readonly is_streaming: boolean
    readonly clock_skew_ms: number | null
  }
  readonly interface: {
    readonly name: string
    readonly kind: string
    readonly listen_port: number
    readonly public_key: string | null
  }
  readonly names: { readonly way: string; readonly listen: string | null; readonly fault: string | null }
  readonly peers: {
    readonly known: number
    readonly direct: number
    readonly relayed: number
    readonly refused: number
  }
  readonly policies: { readonly count: number; readonly rules: readonly RuleRow[]; readonly fault: string | null }
  /** Mediated sessions in use; `listen` is null where none is let in. */
  readonly sessions: {
    readonly listen: string | null
    readonly open: number
    readonly connections: number
    readonly fault: string | null
  }
  /** Rules of the bridges that this node hosts. */
  readonly ingress: { readonly listen: string; readonly rules: readonly IngressRow[] }
  /** What does not work now. Empty: nothing. */
  readonly faults: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** What an entry of a policy has counted; `entry`: its place in the policy. */
export interface RuleRow {
  readonly policy_id: string
  readonly entry: number
  readonly direction: string
  readonly action: string
  readonly packets: number
  readonly bytes: number
}

/** A peer as the agent answers it. */
export interface PeerRow {
  readonly node_id: string
  readonly name: string
  readonly mesh_address: string
  readonly endpoint: string | null
  /** `direct` or `relayed`: there is a session of the tunnel; `none`: there is none. */
  readonly path: PeerWay['way']
  /** `address:port` of the relay that carries the packets; null where none does. */
  readonly relay: string | null
  /** Whether the agent has the key of the edge. Without it no packet goes to the peer. */
  readonly has_key: boolean
  readonly latest_handshake_at: string | null
  readonly received_bytes: number
  readonly sent_bytes: number
}

type Whole = Machine & { readonly sessions: Pick<Sessions, 'status'> }

/** Reads the status of the agent. */
export async function statusOf(core: AgentCore, machine: Whole): Promise<AgentStatus> {
  const { member, health } = core
  const [device, policies, ingressRules, { version }] = await Promise.all([
    deviceOf(core, machine),
    policiesOf(core, machine),
    machine.ingress.rows(),
    core.binary(),
  ])
  return {
    state: member.view === undefined ? 'waiting' : 'running',
    pid: process.pid,
    version,
    started_at: new Date(core.startedMs).toISOString(),
    node_id: member.identity.node_id,
    name: member.self?.name ?? member.identity.name,
    mesh_address: machine.network().ownAddress,
    mesh_cidr: machine.network().cidr?.text ?? null,
    server: serverOf(core),
    interface: {
      name: machine.device.name,
      kind: machine.device.kind,
      listen_port: device.listenPort,
      public_key: device.publicKey ?? null,
    },
    names: namesOf(machine),
    peers: peersOf(machine, device.peers),
    policies,
    sessions: sessionsOf(machine),
    ingress: { listen: core.state.machine.ingress_listen ?? DEFAULT_LISTEN, rules: ingressRules },
    faults: [...device.faults, ...faultsOf(core, machine)],
    counts: health.report().counts,
  }
}

interface SeenDevice extends DeviceStatus {
  /** Why it cannot be read; empty where it can. */
  readonly faults: readonly string[]
}

/** An interface that is gone is what a status is asked for. */
async function deviceOf({ state }: AgentCore, { device }: Machine): Promise<SeenDevice> {
  try {
    return { ...(await device.status()), faults: [] }
  } catch (error) {
    const fault = `the interface ${device.name} cannot be read: ${reasonOf(error)}`
    return { publicKey: undefined, listenPort: state.machine.listen_port, peers: [], faults: [fault] }
  }
}

function serverOf({ health, state, member }: AgentCore): AgentStatus['server'] {
  const { isServerReachable, sinceMs, clockSkewMs } = health.report()
  return {
    url: state.server.url,
    reachable: isServerReachable ?? null,
    since: new Date(sinceMs).toISOString(),
    is_streaming: member.stream?.isOpen() ?? false,
    clock_skew_ms: clockSkewMs === undefined ? null : Math.round(clockSkewMs),
  }
}

function namesOf({ names }: Machine): AgentStatus['names'] {
  const { way, listen, fault } = names.status()
  return { way, listen: listen ?? null, fault: fault ?? null }
}

function peersOf({ applier, paths }: Machine, peers: readonly PeerStatus[]): AgentStatus['peers'] {
  const accepted = applier.accepted()
  const ways = applier.present(peers).map(({ nodeId, status }) => paths.wayOf(nodeId, status).way)
  const countOf = (way: PeerWay['way']): number => ways.filter((each) => each === way).length
  const [direct, relayed] = [countOf('direct'), countOf('relayed')]
  return { known: accepted.peers.length, direct, relayed, refused: accepted.refused.size }
}

function sessionsOf({ sessions }: Whole): AgentStatus['sessions'] {
  const { listen, open, connections, fault } = sessions.status()
  return { listen: listen ?? null, open, connections, fault: fault ?? null }
}

async function policiesOf({ member }: AgentCore, { firewall }: Machine): Promise<AgentStatus['policies']> {
  const count = member.policies?.list().length ?? 0
  const { fault } = firewall.status()
  try {
    return { count, rules: (await firewall.counters()).map(ruleRow), fault: fault ?? null }
  } catch (error) {
    return { count, rules: [], fault: fault ?? reasonOf(error) }
  }
}

function ruleRow({ policyId: policy_id, entry, direction, action, packets, bytes }: RuleCounter): RuleRow {
  return { policy_id, entry, direction, action, packets, bytes }
}

function faultsOf(
  { keeper }: AgentCore,
  { work, applier, firewall, names, sessions, bridges }: Whole,
): readonly string[] {
  const refused = [...applier.accepted().refused].map(([nodeId, why]) => `peer ${nodeId} is refused: ${why}`)
  const faults = [keeper.fault(), work.fault(), firewall.status().fault, names.status().fault, sessions.status().fault]
  return [...faults, ...bridges.faults(), ...refused.slice(0, REFUSED_SHOWN)].filter((fault) => fault !== undefined)
}

/** Refused peers that are named; the others are counted. */
const REFUSED_SHOWN = 20

const NO_PEER: Omit<PeerStatus, 'publicKey'> = {
  endpoint: undefined,
  latestHandshakeMs: undefined,
  receivedBytes: 0,
  sentBytes: 0,
  allowedIps: [],
  hasPresharedKey: false,
  keepaliveSeconds: 0,
}

/** Reads the peers of the agent, by name. */
export async function peerRows(
  { member }: AgentCore,
  { device, applier, paths }: Machine,
): Promise<readonly PeerRow[]> {
  const { peers } = await device.status()
  const known = new Map(peers.map((peer) => [peer.publicKey, peer]))
  const rows = applier.accepted().peers.map((facts): PeerRow => {
    const peer = known.get(facts.public_key) ?? { ...NO_PEER, publicKey: facts.public_key }
    const { way, relay } = paths.wayOf(facts.node_id, peer)
    return {
      node_id: facts.node_id,
      name: facts.name,
      mesh_address: facts.mesh_address,
      endpoint: peer.endpoint ?? (facts.endpoint === '' ? null : facts.endpoint),
      path: way,
      relay: relay ?? null,
      has_key: member.keys.has(facts.node_id),
      latest_handshake_at: peer.latestHandshakeMs === undefined ? null : new Date(peer.latestHandshakeMs).toISOString(),
      received_bytes: peer.receivedBytes,
      sent_bytes: peer.sentBytes,
    }
  })
  return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
