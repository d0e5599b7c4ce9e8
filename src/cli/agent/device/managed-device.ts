import { publicKeyOf } from './keys.ts'
import type { Device, DeviceOptions, DeviceStatus, PeerStatus } from './device.ts'
import type { Driver, PeerRecord } from './driver.ts'
import { checkPeer } from './check-peer.ts'
import type { Link } from './network-link.ts'
import { createRehandshake } from './rehandshake/rehandshake.ts'
import { superviseLink } from './supervise-link.ts'
import { superviseWireguardGo } from './supervise.ts'
import { endWireguardGo } from './wireguard-go.ts'

interface Parts {
  readonly options: DeviceOptions
  readonly alias: string
  readonly link: Link
  readonly driver: Driver
}

/** The device over a configured interface. It remembers what is lost when wireguard-go dies or the interface is removed. */
export function createManagedDevice({ options, alias, link, driver }: Parts): Device {
  const { name, listenPort, mtu } = options
  const wanted = {
    privateKey: options.privateKey,
    address: undefined as string | undefined,
    routes: [] as readonly string[],
    source: undefined as string | undefined,
  }
  const rehandshake = createRehandshake(driver, { now: Date.now, steady: () => performance.now(), random: Math.random })

  const restore = async () => {
    rehandshake.forget()
    await link.setAlias(alias)
    await driver.edit({ privateKey: wanted.privateKey, listenPort })
    await link.setUp(mtu)
    if (wanted.address !== undefined) await link.setAddress(wanted.address)
    // A route that another program has taken since is refused again when the routes are next set.
    await link.setRoutes(wanted.routes, wanted.source).catch(() => undefined)
  }
  const supervised = { logFile: options.logFile, restore, onRestarted: options.onRestarted }
  const supervision =
    driver.kind === 'wireguard-go'
      ? superviseWireguardGo({ name, ...supervised })
      : superviseLink({ link, ...supervised })
  const close = async () => {
    rehandshake.stop()
    await supervision.stop()
  }

  return {
    name,
    kind: driver.kind,
    async setPrivateKey(key) {
      wanted.privateKey = key
      await rehandshake.setPrivateKey(key)
    },
    async change(change) {
      for (const peer of change.put) checkPeer(peer)
      await rehandshake.change(change)
    },
    async status(): Promise<DeviceStatus> {
      const record = await rehandshake.read()
      return {
        publicKey: record.privateKey === undefined ? undefined : publicKeyOf(record.privateKey),
        listenPort: record.listenPort,
        peers: record.peers.map(withoutSecrets),
      }
    },
    wake: (publicKeys) => rehandshake.wake(publicKeys),
    move: (moves) => rehandshake.move(moves),
    async setAddress(address) {
      wanted.address = address
      await link.setAddress(address)
    },
    async setRoutes(cidrs, source) {
      wanted.routes = cidrs
      wanted.source = source
      await link.setRoutes(cidrs, source)
    },
    async remove() {
      await close()
      await link.remove()
      if (driver.kind === 'wireguard-go') await endWireguardGo(name)
    },
    close,
  }
}

function withoutSecrets({ presharedKey: _secret, ...status }: PeerRecord): PeerStatus {
  return status
}
