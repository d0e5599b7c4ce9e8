import { isIP } from 'node:net'
import { askAgent } from '../control/ask-agent.ts'
import type { AgentStatus, PeerRow } from '../control/agent-status.ts'
import { readIp, type IpLink } from '../doctor/read-ip.ts'
import { agentError } from '../errors.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Place } from '../place.ts'
import { endpointOf, isPublic, localAddressTowards, type LocalAddress } from '../system/local-address.ts'
import type { RunProgram } from '../system/run-program.ts'
import { pingAll } from './ping.ts'
import { isPortBound } from './udp-sockets.ts'

/** A peer, and how it is reached. */
export interface PeerCheck {
  readonly name: string
  readonly mesh_address: string
  readonly endpoint: string | null
  readonly path: PeerRow['path']
  readonly relay: string | null
  readonly latest_handshake_at: string | null
  /** Round-trip time of one packet through the tunnel; null where none came back within a second. */
  readonly rtt_ms: number | null
}

/** How this node and its peers reach each other. */
export interface NetworkCheck {
  readonly name: string
  readonly mesh_address: string
  readonly server: { readonly url: string; readonly reachable: boolean | null; readonly local_address: string | null }
  /** Addresses of this machine that are neither loopback nor link-local, without those of the mesh. */
  readonly local_addresses: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] }
  readonly listen_port: number
  /** Whether a socket of this machine has the port. Packet filters on the way are not looked at. */
  readonly is_port_bound: boolean
  /** What the node reports as its endpoint; peers that see another one report that. */
  readonly own_endpoint: string | null
  /**
   * `none`: the address is public; `likely`: it is private, and peers with a session are reached through a relay alone; `unknown`: there
   * is no address, or a private one and no sign of a translation.
   */
  readonly nat: 'none' | 'likely' | 'unknown'
  readonly peers: readonly PeerCheck[]
}

/** What a check needs. */
export interface NetworkQuery {
  readonly place: Place
  readonly run: RunProgram
}

/** Asks the agent and pings every peer. @throws CliError where no agent runs. */
export async function checkNetwork({ place, run }: NetworkQuery): Promise<NetworkCheck> {
  const status = (await asked(place, 'status')) as AgentStatus
  const before = (await asked(place, 'peers')) as readonly PeerRow[]
  // WireGuard makes a session for the first packet: paths are read after the pings.
  const times = await pingAll(
    run,
    before.map(({ mesh_address: address }) => address),
  )
  const peers = (await asked(place, 'peers')) as readonly PeerRow[]
  const local = await localAddressTowards(status.server.url)
  const { listen_port: port } = status.interface
  return {
    name: status.name,
    mesh_address: status.mesh_address,
    server: { url: status.server.url, reachable: status.server.reachable, local_address: local?.address ?? null },
    local_addresses: await localAddresses(run, status),
    listen_port: port,
    is_port_bound: await isPortBound(port),
    own_endpoint: local === undefined ? null : endpointOf(local, port),
    nat: natOf(local, peers),
    peers: peers.map((peer) => checkOf(peer, times)),
  }
}

async function asked({ socket, directory }: Place, request: 'status' | 'peers'): Promise<unknown> {
  const answer = await askAgent(socket, request)
  if (answer !== undefined) return answer
  throw agentError('agent_stopped', `no agent runs with the state folder ${directory}`, {
    exitCode: EXIT.unavailable,
    hints: ['Start it with "ctl agent up".'],
  })
}

async function localAddresses(run: RunProgram, status: AgentStatus): Promise<NetworkCheck['local_addresses']> {
  const links = await readIp<IpLink>(run, ['address', 'show'])
  const all = links
    .filter(({ ifname }) => ifname !== status.interface.name)
    .flatMap(({ addr_info: infos = [] }) => infos)
    .filter(({ scope }) => scope === 'global')
    .flatMap(({ local }) => local ?? [])
  return { ipv4: all.filter((address) => isIP(address) === 4), ipv6: all.filter((address) => isIP(address) === 6) }
}

function natOf(local: LocalAddress | undefined, peers: readonly PeerRow[]): NetworkCheck['nat'] {
  if (local === undefined) return 'unknown'
  if (isPublic(local)) return 'none'
  const paths = new Set(peers.map(({ path }) => path))
  return paths.has('relayed') && !paths.has('direct') ? 'likely' : 'unknown'
}

function checkOf(peer: PeerRow, times: ReadonlyMap<string, number>): PeerCheck {
  const { name, mesh_address, endpoint, path, relay, latest_handshake_at } = peer
  return { name, mesh_address, endpoint, path, relay, latest_handshake_at, rtt_ms: times.get(mesh_address) ?? null }
}
