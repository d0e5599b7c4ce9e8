import type { AgentCore } from '../../agent-core.ts'
import { removeDevice } from '../../device/open-device.ts'
import { machineAddresses } from '../../system/machine-addresses.ts'
import { ownInterfaces } from './own-interfaces.ts'
import { subnetFault } from './subnet-fault.ts'
import type { UserAccessDeps } from './user-access-part.ts'

/** Names that the agent gives the interfaces of tunnels to other sites. */
const OF_TUNNELS = /^s2s[wio][0-9a-f]{11}$/

/** What the user access of this agent needs. */
export function userAccessDeps(
  { state, member, ports, place, run, log }: AgentCore,
  { enforceForwards }: Pick<UserAccessDeps, 'enforceForwards'>,
): UserAccessDeps {
  const { machine, enrolment, server } = state
  const { node_id: owner } = enrolment
  const query = { run, serverUrl: server.url, interfaceName: machine.interface_name }
  return {
    openDevice: (options) => ports.openDevice(options),
    interfaces: { owner, mtu: machine.mtu, isUserspace: machine.is_userspace, logFile: place.deviceLog },
    log,
    isReserved: (name) => name === machine.interface_name || OF_TUNNELS.test(name),
    ownInterfaces: () => ownInterfaces(owner),
    removeLeft: (name) => removeDevice({ name, owner }),
    subnetFault: async (subnet) =>
      subnetFault(subnet, await machineAddresses(query), member.self?.mesh_cidr ?? enrolment.mesh_cidr),
    enforceForwards,
  }
}
