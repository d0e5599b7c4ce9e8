import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { AgentCore } from '../agent-core.ts'
import { localNetworks } from '../endpoints/local-networks.ts'
import { isOwnRelay } from '../endpoints/own-relay.ts'
import { createPaths, type Paths } from '../endpoints/paths.ts'
import { createRelayAddresses, type RelayAddresses } from '../endpoints/relay-addresses.ts'
import type { Firewall } from '../firewall/firewall.ts'
import type { Forward } from '../firewall/firewall-view.ts'
import type { CoalescedWork } from '../process/coalesced-work.ts'
import type { MeshNetwork } from '../server-answers/mesh-network.ts'
import { isOwnLink } from '../system/own-links.ts'
import { createBridgeHosts, type BridgeHosts } from './bridge-hosts.ts'
import { createBridgeParts, type BridgePartsPorts, type OpenParts } from './bridge-parts.ts'
import type { ForwardingFirewall } from './forwards/forwarding-firewall.ts'
import { openForwarding } from './forwards/open-forwarding.ts'

/** What the machine gives its bridges. Functions are not called before it is open. */
export interface BridgePorts {
  readonly firewall: Firewall
  /** What an earlier process forwarded. */
  readonly before: readonly Forward[]
  readonly network: () => MeshNetwork
  /** The peers that were taken. */
  readonly peers: () => readonly PeerFacts[]
  readonly relayPeers: BridgePartsPorts['relayPeers']
  /** What applies the mesh. */
  readonly work: () => CoalescedWork
}

/** The bridges of a machine, what it reads of their parts, and the ways to peers that relays give. */
export interface BridgesOfMachine extends Pick<OpenParts, 'ingress'> {
  readonly bridges: BridgeHosts
  readonly relays: RelayAddresses
  readonly paths: Paths
  /** Judges also what the bridges forward. */
  readonly firewall: ForwardingFirewall
}

const SETTLE_MS_MAX = 10_000
const SETTLE_LOOK_MS = 20

/** Makes the bridges of a machine. */
export function openBridges(core: AgentCore, ports: BridgePorts): BridgesOfMachine {
  const { before, network, peers, relayPeers, work } = ports
  const { node_id: ownId } = core.state.enrolment
  const firewall = openForwarding(core, ports.firewall, { before, forwards: () => bridges.forwards() })
  const ownAddress = (): string => network().ownAddress
  const parts = createBridgeParts(core, {
    network,
    ownAddress,
    addressOf: (nodeId) =>
      nodeId === ownId ? ownAddress() : peers().find(({ node_id: id }) => id === nodeId)?.mesh_address,
    peersSettled: () => settled(core, work),
    enforceForwards: () => firewall.enforceForwards(),
    relayPeers,
  })
  const bridges = createBridgeHosts({ parts, log: core.log, forwardsChanged: () => work().request() })
  const relays = createRelayAddresses()
  const paths = createPaths({
    relays,
    networks: () => localNetworks((name) => isOwnLink(name, ownId)),
    isOwnRelay: (endpoint) => isOwnRelay(endpoint, { ports: parts.relay.ports(), peers: peers() }),
    now: () => core.clock.now(),
    steady: () => performance.now(),
    random: () => core.clock.random(),
  })
  return { bridges, firewall, ingress: parts.ingress, relays, paths }
}

/** Resolves once the mesh is applied, or is not for now. */
async function settled({ clock, ending }: AgentCore, work: () => CoalescedWork): Promise<void> {
  const deadlineMs = clock.now() + SETTLE_MS_MAX
  const isSettled = (): boolean => work().isIdle() || work().fault() !== undefined
  while (!isSettled() && clock.now() < deadlineMs && !ending.signal.aborted)
    await clock.pause(SETTLE_LOOK_MS, ending.signal)
}
