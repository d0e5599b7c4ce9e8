import { existsSync } from 'node:fs'
import type { AgentCore } from './agent-core.ts'
import type { BridgeHosts } from './bridges/bridge-hosts.ts'
import { readForwards } from './bridges/forwards/forwards-file.ts'
import type { IngressPart } from './bridges/ingress/ingress-part.ts'
import { openBridges } from './bridges/open-bridges.ts'
import { relayPeersOf } from './bridges/relay/peers-of-machine.ts'
import type { Device } from './device/device.ts'
import type { Paths } from './endpoints/paths.ts'
import type { RelayAddresses } from './endpoints/relay-addresses.ts'
import { reasonOf } from './errors.ts'
import type { Firewall } from './firewall/firewall.ts'
import type { MeshNames } from './names/mesh-names.ts'
import { createCoalescedWork, type CoalescedWork } from './process/coalesced-work.ts'
import { doEach } from './process/do-each.ts'
import { keepNetwork, type KeptNetwork } from './server-answers/kept-network.ts'
import type { MeshNetwork } from './server-answers/mesh-network.ts'
import { readKnownMesh, writeKnownMesh } from './state/known-mesh.ts'
import { isPublic, localAddressTowards, type LocalAddress } from './system/local-address.ts'
import type { MachineQuery } from './system/machine-addresses.ts'
import { createMeshApplier, type ApplierDeps, type MeshApplier } from './tunnel/mesh-applier.ts'
import { rawPrivateKey } from './tunnel/raw-keys.ts'

/** What the agent has changed of this machine. */
export interface Machine {
  readonly device: Device
  readonly firewall: Firewall
  readonly names: MeshNames
  /** Of the bridges that this machine hosts. */
  readonly bridges: BridgeHosts
  readonly ingress: Pick<IngressPart, 'rows'>
  readonly applier: MeshApplier
  /** The choice between direct ways and relays. */
  readonly paths: Paths
  readonly relays: RelayAddresses
  /** Applies the mesh before long. */
  readonly work: CoalescedWork
  readonly network: () => MeshNetwork
  /** Takes the mesh address and CIDR that the server gives now. */
  selfChanged(): Promise<void>
  /** Gives the device the present private key. */
  ownKeyChanged(): Promise<void>
  /** Takes the address by which this machine reaches others. Behind a NAT the tunnel keeps its translations open. */
  uplinkChanged(uplink: LocalAddress | undefined): void
  /** Ends the agent's part: `remove` takes everything away, `keep` leaves tunnels and policies in force. */
  close(mode: 'keep' | 'remove'): Promise<void>
}

/** Keeps a translation of addresses open (decisions: persistent keepalive). */
const KEEPALIVE_SECONDS = 25

/** Opens interface, firewall and names. @throws CliError where this machine cannot, or must not, carry the mesh. */
export async function openMachine(core: AgentCore): Promise<Machine> {
  const { state, log, member, place } = core
  const { enrolment, server } = state
  // Together, since each may wait for a name server that does not answer.
  const [network, knownBefore, before, found] = await Promise.all([
    keepNetwork(queryOf(core), enrolment),
    readKnownMesh(place.mesh, enrolment.node_id),
    readForwards(place.forwards, enrolment.node_id),
    localAddressTowards(server.url),
  ])
  let uplink = found
  // Last: whatever fails before it leaves nothing behind.
  const opened = await openParts(core, network, () => restarted())
  const { device } = opened
  const hosted = openBridges(core, {
    before,
    firewall: opened.firewall,
    network: () => network.now(),
    peers: () => applier.accepted().peers,
    relayPeers: () => relayPeersOf({ device, applier }),
    work: () => work,
  })
  const parts = { ...opened, ...hosted }
  const keepaliveSeconds = (): number => (uplink !== undefined && isPublic(uplink) ? 0 : KEEPALIVE_SECONDS)
  const applier = applierOf(core, network, {
    ...parts,
    knownBefore,
    keepaliveSeconds,
    forwards: () => parts.bridges.forwards(),
  })
  const ownKey = createOwnKey(core, device)
  const work = createCoalescedWork({
    ...core,
    name: 'mesh',
    until: core.ending.signal,
    async work() {
      await ownKey.repeat()
      await applier.apply()
    },
  })

  /** Checks the mesh, and by the next round each peer, against the addresses that this machine has now. */
  async function takeNetwork(given: Parameters<KeptNetwork['take']>[0]): Promise<void> {
    try {
      await network.take(given)
      await device.setAddress(network.now().ownAddress)
    } catch (error) {
      log.line(`mesh: ${reasonOf(error)}; what held before stays in force`)
    }
    work.request()
  }

  /** The device has its key, address and routes again. */
  function restarted(): void {
    const cause = device.kind === 'kernel' ? 'the interface was removed and' : 'wireguard-go ended and its interface'
    log.line(`device: ${cause} was made again; its peers are put again`)
    applier.forgetPuts()
    work.request()
  }

  return {
    ...parts,
    applier,
    work,
    network: () => network.now(),
    async selfChanged() {
      if (member.self !== undefined) await takeNetwork(member.self)
    },
    async ownKeyChanged() {
      await ownKey.change()
      work.request()
    },
    uplinkChanged(address) {
      const hasMoved = address?.address !== uplink?.address
      uplink = address
      work.request()
      const { ownAddress, cidr } = network.now()
      if (hasMoved) core.tasks.track(takeNetwork({ mesh_address: ownAddress, mesh_cidr: cidr?.text }))
    },
    async close(mode) {
      await doEach([() => hosted.bridges.close(mode), () => closeParts(parts, mode)])
    },
  }
}

/** How the addresses of this machine are found that the mesh must leave alone. */
function queryOf({ run, state: { server, machine, enrolment } }: AgentCore): MachineQuery {
  return { run, serverUrl: server.url, interfaceName: machine.interface_name, owner: enrolment.node_id }
}

interface OwnKey {
  /** Gives the device the present key. */
  change(): Promise<void>
  /** Gives it once more where the device did not take it. @throws the reason of the device */
  repeat(): Promise<void>
}

function createOwnKey({ member }: AgentCore, device: Device): OwnKey {
  let isDue = false
  const give = (): Promise<void> => device.setPrivateKey(rawPrivateKey(member.identity.private_key))
  return {
    async change() {
      try {
        await give()
      } catch {
        // The next round has the reason, where it fails once more.
        isDue = true
      }
    },
    async repeat() {
      if (isDue) await give()
      isDue = false
    },
  }
}

type Parts = Pick<Machine, 'device' | 'firewall' | 'names'>

async function openParts(core: AgentCore, network: KeptNetwork, onRestarted: () => void): Promise<Parts> {
  const { state, place, ports, log, member } = core
  const { machine: settings, enrolment } = state
  const { interface_name: name } = settings
  const isNew = !existsSync(`/sys/class/net/${name}`)
  const tell = (line: string): void => log.line(line)
  const device = await ports.openDevice({
    name,
    owner: enrolment.node_id,
    privateKey: rawPrivateKey(member.identity.private_key),
    listenPort: settings.listen_port,
    mtu: settings.mtu,
    isUserspace: settings.is_userspace,
    logFile: place.deviceLog,
    onRestarted,
  })
  try {
    await device.setAddress(network.now().ownAddress)
    const names = await ports.openNames({ way: settings.names, interfaceName: name, log: tell })
    return { device, firewall: ports.openFirewall(tell), names }
  } catch (error) {
    // An interface that carried packets before stays; one that was made for this start does not.
    await (isNew ? device.remove() : device.close())
    throw error
  }
}

function applierOf(
  core: AgentCore,
  network: KeptNetwork,
  parts: Parts & Pick<ApplierDeps, 'keepaliveSeconds' | 'knownBefore' | 'forwards' | 'relays'>,
): MeshApplier {
  const { member, log, clock, place, state } = core
  const { node_id: nodeId } = state.enrolment
  return createMeshApplier({
    ...parts,
    member,
    log,
    until: core.ending.signal,
    now: () => clock.now(),
    network: () => network.now(),
    taken: () => network.taken(),
    machine: () => network.machine(),
    remember: (known) => writeKnownMesh(place.mesh, nodeId, known),
  })
}

async function closeParts({ device, firewall, names }: Parts, mode: 'keep' | 'remove'): Promise<void> {
  if (mode === 'keep') {
    await names.close()
    return device.close()
  }
  return doEach([
    // First, since systemd-resolved has them for an interface that is there.
    () => names.remove(),
    // The rules stay while the tunnel does.
    async () => {
      await device.remove()
      await firewall.remove()
    },
  ])
}
