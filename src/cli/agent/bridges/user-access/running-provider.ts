import { hostAddressOf } from '../../../../shared/bridges/peer-subnet.ts'
import type { Device, DeviceOptions, DevicePeer } from '../../device/device.ts'
import { sameKey } from '../../device/keys.ts'
import { explained } from '../../errors.ts'
import type { Provider, ProviderPeer } from './provider.ts'

/** What providers need of this machine. */
export interface ProviderDeps {
  readonly openDevice: (options: DeviceOptions) => Promise<Device>
  /** What all interfaces of this node have in common. */
  readonly interfaces: Pick<DeviceOptions, 'owner' | 'mtu' | 'isUserspace' | 'logFile'>
  /** Brings what is forwarded into force. Resolves with why it is not, or undefined. */
  readonly enforceForwards: () => Promise<string | undefined>
}

/** A provider whose interface is open. */
export interface RunningProvider {
  readonly provider: () => Provider
  /** Whether the provider can be changed into this one while its interface stays open. */
  isChangeableTo(next: Provider): boolean
  change(next: Provider): Promise<void>
  /** What stopped working since. */
  fault(): string | undefined
  close(mode: 'keep' | 'remove'): Promise<void>
}

/** Opens the interface of a provider, or takes over the one that an earlier process left. @throws CliError */
export async function openProvider(deps: ProviderDeps, first: Provider): Promise<RunningProvider> {
  let current = first
  let fault: string | undefined
  const device = await deps.openDevice({
    ...deps.interfaces,
    name: first.interfaceName,
    privateKey: first.privateKey,
    listenPort: first.listenPort,
    onRestarted() {
      restore().catch((error: unknown) => (fault = `its peers could not be put again: ${explained(error)}`))
    },
  })

  /** A new interface has no peers, and is not set to forward. */
  async function restore(): Promise<void> {
    await putPeers(device, current.peers)
    fault = await deps.enforceForwards()
  }

  async function apply({ subnet, peers }: Provider): Promise<void> {
    if (subnet !== undefined) await device.setAddress(hostAddressOf(subnet))
    await device.setRoutes(subnet === undefined ? [] : [subnet])
    await putPeers(device, peers)
  }

  try {
    await apply(first)
  } catch (error) {
    await device.close()
    throw error
  }

  return {
    provider: () => current,
    isChangeableTo: (next) =>
      next.interfaceName === current.interfaceName &&
      next.listenPort === current.listenPort &&
      (next.subnet !== undefined || current.subnet === undefined),
    async change(next) {
      if (!sameKey(next.privateKey, current.privateKey)) await device.setPrivateKey(next.privateKey)
      current = next
      await apply(next)
      fault = undefined
    },
    fault: () => fault,
    close: (mode) => (mode === 'keep' ? device.close() : device.remove()),
  }
}

/** Gives the device exactly these peers. One that is not among them is cut off at once. */
async function putPeers(device: Device, peers: readonly ProviderPeer[]): Promise<void> {
  const wanted = new Set(peers.map(({ publicKey }) => publicKey))
  const { peers: present } = await device.status()
  const remove = present.map(({ publicKey }) => publicKey).filter((key) => !wanted.has(key))
  await device.change({ put: peers.map(devicePeer), remove })
}

/** The device of a person speaks first, from wherever it is. */
function devicePeer({ publicKey, address }: ProviderPeer): DevicePeer {
  return {
    publicKey,
    presharedKey: undefined,
    endpoint: undefined,
    allowedIps: [`${address}/32`],
    keepaliveSeconds: 0,
  }
}
