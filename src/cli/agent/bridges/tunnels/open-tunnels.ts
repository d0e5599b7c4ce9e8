import type { AgentCore } from '../../agent-core.ts'
import { removeDevice } from '../../device/open-device.ts'
import { reasonOf } from '../../errors.ts'
import type { MeshNetwork } from '../../server-answers/mesh-network.ts'
import type { Surroundings } from '../../server-answers/subnet-fault.ts'
import { createAddressLookup } from '../../sessions/address-lookup.ts'
import { isOwnLink, ownLinks } from '../../system/own-links.ts'
import type { BridgePart } from '../bridge-part.ts'
import type { WantedTunnel } from '../wanted-parts.ts'
import { createIpsecDriver } from './ipsec/ipsec-driver.ts'
import { createOpenvpnDriver } from './openvpn/openvpn-driver.ts'
import { readSurroundings } from './surroundings.ts'
import type { TunnelDriver } from './tunnel-driver.ts'
import { createTunnelsPart } from './tunnels-part.ts'
import { createWireguardDriver } from './wireguard/wireguard-driver.ts'

/** What the machine gives its tunnels. */
export interface TunnelPorts {
  readonly network: () => MeshNetwork
  /** Brings what the bridges want forwarded into force. Resolves with why it is not, or undefined. */
  readonly enforceForwards: () => Promise<string | undefined>
}

const LOOKUP_MS_MAX = 2_000

/** Makes the tunnels to other sites of this machine. */
export function openTunnels(core: AgentCore, ports: TunnelPorts): BridgePart<readonly WantedTunnel[]> {
  const { run, state, place } = core
  const { node_id: owner } = state.enrolment
  const { interface_name: interfaceName } = state.machine
  const programs = {
    run,
    owner,
    folder: place.directory,
    log: (line: string) => core.log.line(`tunnels: ${line}`),
    mesh: () => ({ cidr: ports.network().cidr?.text, address: ports.network().ownAddress }),
  }
  const query = { run, serverUrl: state.server.url, interfaceName, owner }
  const surroundings = () => readSurroundings(query, ports.network())
  return createTunnelsPart({
    drivers: {
      wireguard: wireguardDriver(core, ports, surroundings),
      ipsec: createIpsecDriver(programs),
      openvpn: createOpenvpnDriver(programs),
    },
    ownInterfaces: async () => (await ownLinks(run, owner)).map(({ name }) => name),
    surroundings,
    enforceForwards: ports.enforceForwards,
  })
}

function wireguardDriver(
  core: AgentCore,
  { network, enforceForwards }: TunnelPorts,
  surroundings: () => Promise<Surroundings>,
): TunnelDriver {
  const { run, state, place, log, clock } = core
  const { node_id: owner } = state.enrolment
  const { mtu, is_userspace: isUserspace } = state.machine
  return createWireguardDriver({
    device: { owner, mtu, isUserspace, logFile: place.deviceLog },
    openDevice: (options) => core.ports.openDevice(options),
    removeDevice: async (name) => void (await removeDevice({ name, owner })),
    isOwn: (name) => isOwnLink(name, owner),
    network,
    surroundings,
    lookup: createAddressLookup(LOOKUP_MS_MAX),
    run,
    clock,
    log: (line) => log.line(line),
    // Its fault is among those of the firewall, and the next look at the rules tries it again.
    onRestarted: () => void enforceForwards().catch((error: unknown) => log.line(`tunnels: ${reasonOf(error)}`)),
  })
}
