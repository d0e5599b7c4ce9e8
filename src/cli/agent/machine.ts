import type { AgentCore } from './agent-core.ts'
import type { Device } from './device/device.ts'
import { reasonOf } from './errors.ts'
import type { Firewall } from './firewall/firewall.ts'
import type { MeshNames } from './names/mesh-names.ts'
import { createCoalescedWork, type CoalescedWork } from './process/coalesced-work.ts'
import { acceptMeshNetwork, type MeshNetwork } from './server-answers/mesh-network.ts'
import { readKnownMesh, writeKnownMesh } from './state/known-mesh.ts'
import { isPublic, localAddressTowards } from './system/local-address.ts'
import { machineAddresses } from './system/machine-addresses.ts'
import { createMeshApplier, type MeshApplier } from './tunnel/mesh-applier.ts'
import { rawPrivateKey } from './tunnel/raw-keys.ts'

/** What the agent has changed of this machine. */
export interface Machine {
  readonly device: Device
  readonly firewall: Firewall
  readonly names: MeshNames
  readonly applier: MeshApplier
  /** Applies the mesh before long. */
  readonly work: CoalescedWork
  readonly network: () => MeshNetwork
  /** Takes the mesh address and CIDR that the server gives now. */
  selfChanged(): Promise<void>
  /** Gives the device the present private key. */
  ownKeyChanged(): Promise<void>
  /** Ends the agent's part: `remove` takes everything away, `keep` leaves tunnels and policies in force. */
  close(mode: 'keep' | 'remove'): Promise<void>
}

/** Keeps a translation of addresses open (decisions: persistent keepalive). */
const KEEPALIVE_SECONDS = 25

/** Opens interface, firewall and names. @throws CliError where this machine cannot, or must not, carry the mesh. */
export async function openMachine(core: AgentCore): Promise<Machine> {
  const { state, place, ports, log, member, run } = core
  const { machine: settings, enrolment, server } = state
  const query = { run, serverUrl: server.url, interfaceName: settings.interface_name }
  let addresses = await machineAddresses(query)
  let network = acceptMeshNetwork({ address: enrolment.mesh_address, cidr: enrolment.mesh_cidr }, addresses)
  const local = await localAddressTowards(server.url)
  const keepaliveSeconds = local !== undefined && isPublic(local) ? 0 : KEEPALIVE_SECONDS
  const device = await ports.openDevice({
    name: settings.interface_name,
    owner: enrolment.node_id,
    privateKey: rawPrivateKey(member.identity.private_key),
    listenPort: settings.listen_port,
    mtu: settings.mtu,
    isUserspace: settings.is_userspace,
    logFile: place.deviceLog,
    onRestarted: () => void restarted(),
  })
  await device.setAddress(network.ownAddress)
  const tell = (line: string): void => log.line(line)
  const firewall = ports.openFirewall(tell)
  const names = await ports.openNames({ way: settings.names, interfaceName: device.name, log: tell })
  const applier = createMeshApplier({
    member,
    device,
    firewall,
    names,
    log,
    now: () => core.clock.now(),
    network: () => network,
    taken: () => new Set([...addresses.others, ...addresses.gateways, ...addresses.resolvers, ...addresses.servers]),
    keepaliveSeconds: () => keepaliveSeconds,
    knownBefore: await readKnownMesh(place.mesh, enrolment.node_id),
    remember: (known) => writeKnownMesh(place.mesh, enrolment.node_id, known),
  })
  const work = createCoalescedWork({ ...core, name: 'mesh', until: core.ending.signal, work: () => applier.apply() })

  async function restarted(): Promise<void> {
    log.line('device: wireguard-go ended and was started again; its peers are put again')
    applier.forgetPuts()
    await device.setPrivateKey(rawPrivateKey(member.identity.private_key))
    await device.setAddress(network.ownAddress)
    work.request()
  }

  return {
    device,
    firewall,
    names,
    applier,
    work,
    network: () => network,
    async selfChanged() {
      const { self } = member
      if (self === undefined) return
      try {
        addresses = await machineAddresses(query)
        network = acceptMeshNetwork({ address: self.mesh_address, cidr: self.mesh_cidr }, addresses)
      } catch (error) {
        log.line(`mesh: ${reasonOf(error)}; what held before stays in force`)
        return
      }
      await device.setAddress(network.ownAddress)
      work.request()
    },
    async ownKeyChanged() {
      await device.setPrivateKey(rawPrivateKey(member.identity.private_key))
      work.request()
    },
    async close(mode) {
      if (mode === 'keep') {
        await names.close()
        return device.close()
      }
      await names.remove()
      await device.remove()
      return firewall.remove()
    },
  }
}
