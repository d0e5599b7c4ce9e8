import { existsSync } from 'node:fs'
import type { AgentCore } from '../../agent-core.ts'
import { removeDevice } from '../../device/open-device.ts'
import type { MeshNetwork } from '../../server-answers/mesh-network.ts'
import { subnetFault } from '../../server-answers/subnet-fault.ts'
import { isOwnLink, ownLinks } from '../../system/own-links.ts'
import { readSurroundings } from '../tunnels/surroundings.ts'
import { kindOfAnyInterface } from '../tunnels/tunnel-interface.ts'
import type { UserAccessDeps } from './user-access-part.ts'

/** What the machine gives its user access. */
export interface UserAccessPorts extends Pick<UserAccessDeps, 'enforceForwards'> {
  readonly network: () => MeshNetwork
}

/** What the user access of this agent needs. */
export function userAccessDeps(
  { state, ports, place, run, log }: AgentCore,
  { network, enforceForwards }: UserAccessPorts,
): UserAccessDeps {
  const { machine, enrolment, server } = state
  const { node_id: owner } = enrolment
  const query = { run, serverUrl: server.url, interfaceName: machine.interface_name, owner }
  return {
    openDevice: (options) => ports.openDevice(options),
    interfaces: { owner, mtu: machine.mtu, isUserspace: machine.is_userspace, logFile: place.deviceLog },
    log,
    isReserved: (name) => name === machine.interface_name || kindOfAnyInterface(name) !== undefined,
    isForeign: (name) => existsSync(`/sys/class/net/${name}`) && !isOwnLink(name, owner),
    ownInterfaces: async () => (await ownLinks(run, owner)).map(({ name }) => name),
    removeLeft: (name) => removeDevice({ name, owner }),
    async subnetFault(subnet) {
      const around = await readSurroundings(query, network())
      return subnetFault([subnet], around)
    },
    enforceForwards,
  }
}
