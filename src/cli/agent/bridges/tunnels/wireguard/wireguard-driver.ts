import type { AgentClock } from '../../../../../client/agent/agent-clock.ts'
import type { Device, DeviceOptions } from '../../../device/device.ts'
import { sameKey } from '../../../device/keys.ts'
import { readIp, type IpRoute } from '../../../doctor/read-ip.ts'
import { reasonOf } from '../../../errors.ts'
import { doEach } from '../../../process/do-each.ts'
import { isInside, type MeshNetwork } from '../../../server-answers/mesh-network.ts'
import type { AddressLookup } from '../../../sessions/address-lookup.ts'
import type { RunProgram } from '../../../system/run-program.ts'
import type { Tunnel, TunnelDriver, TunnelPlace } from '../tunnel-driver.ts'
import { findRemoteEnd, type RemoteEnd } from './remote-end.ts'
import { readSiteSecret, type SiteSecret } from './site-secret.ts'
import { createSiteTunnel, type SiteTunnel } from './site-tunnel.ts'

/** What WireGuard tunnels to other sites need. */
export interface WireguardDeps {
  /** Those of every interface of this node. */
  readonly device: Pick<DeviceOptions, 'owner' | 'mtu' | 'isUserspace' | 'logFile'>
  readonly openDevice: (options: DeviceOptions) => Promise<Device>
  /** Removes an interface of this node that is not open, if there is one of that name. */
  readonly removeDevice: (name: string) => Promise<void>
  readonly isOwn: (interfaceName: string) => boolean
  readonly network: () => MeshNetwork
  readonly lookup: AddressLookup
  readonly run: RunProgram
  readonly clock: AgentClock
  readonly log: (line: string) => void
  /** An interface was made again: what the kernel kept for it is lost. */
  readonly onRestarted: () => void
}

const LOOK_MS = 5_000

/** Makes the driver of WireGuard tunnels. Each has an interface of its own. */
export function createWireguardDriver(deps: WireguardDeps): TunnelDriver {
  const open = new Map<string, SiteTunnel>()
  /** Why a tunnel that was open before does not work at all. */
  const broken = new Map<string, string>()
  const ending = new AbortController()
  let last: Promise<unknown> = Promise.resolve()

  function serially<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
    return next
  }

  function openInterface(name: string, { privateKey, listenPort }: SiteSecret): Promise<Device> {
    return deps.openDevice({
      ...deps.device,
      name,
      privateKey,
      listenPort,
      onRestarted: () => {
        void serially(() => putAgain(name)).then(deps.onRestarted)
      },
    })
  }

  async function putAgain(name: string): Promise<void> {
    const fault = await open
      .get(name)
      ?.put()
      .then(() => undefined, reasonOf)
    note(name, fault)
  }

  function note(name: string, fault: string | undefined): void {
    if (fault === undefined) broken.delete(name)
    else broken.set(name, fault)
  }

  /** The interface with the key and the port of the secret. Where it cannot have them it goes on with the former ones. */
  async function interfaceFor(name: string, secret: SiteSecret): Promise<Device> {
    const former = open.get(name)
    if (former === undefined) return openInterface(name, secret)
    const { secret: had, device } = former
    if (sameKey(had.privateKey, secret.privateKey) && had.listenPort === secret.listenPort) return device
    await device.close()
    try {
      return await openInterface(name, secret)
    } catch (error) {
      await goBack(name, former)
      throw error
    }
  }

  /** Opens the interface with its former key, and gives it its former peer. */
  async function goBack(name: string, { tunnel, secret }: SiteTunnel): Promise<void> {
    await open.get(name)?.device.close()
    const device = await openInterface(name, secret)
    open.set(name, siteTunnel({ tunnel, secret, device }))
    await putAgain(name)
  }

  function siteTunnel(parts: Pick<SiteTunnel, 'tunnel' | 'secret' | 'device'>, remote = UNKNOWN): SiteTunnel {
    const find = () => findRemoteEnd(parts.tunnel, deps.network(), deps.lookup)
    return createSiteTunnel({ ...parts, remote, find, network: deps.network, now: () => deps.clock.now() })
  }

  async function place(name: string, next: Next): Promise<void> {
    const former = open.get(name)
    const isNew = former === undefined && !deps.isOwn(name)
    const device = await interfaceFor(name, next.secret)
    open.set(name, siteTunnel({ ...next, device }, next.remote))
    try {
      await open.get(name)?.put()
      broken.delete(name)
    } catch (error) {
      if (former !== undefined) await goBack(name, former)
      else await leave(name, isNew ? 'remove' : 'close')
      throw error
    }
  }

  /** What an earlier process has left goes on; what was made just now does not stay. */
  async function leave(name: string, how: 'remove' | 'close'): Promise<void> {
    await open.get(name)?.device[how]()
    open.delete(name)
    broken.delete(name)
  }

  async function lookAtAll(): Promise<void> {
    for (const [name, tunnel] of open) {
      await serially(async () => {
        if (open.get(name) !== tunnel) return
        note(name, await tunnel.look().then(() => undefined, reasonOf))
      })
    }
    const routes = await readIp<IpRoute>(deps.run, ['-4', 'route', 'show'])
    for (const [name, tunnel] of open) {
      const own = new Set(routes.flatMap(({ dst = '', dev }) => (dev === name ? [withLength(dst)] : [])))
      if (tunnel.misses(own)) await serially(async () => (open.get(name) === tunnel ? putAgain(name) : undefined))
    }
  }

  async function keepLooking(): Promise<void> {
    for (;;) {
      await deps.clock.pause(LOOK_MS, ending.signal)
      if (ending.signal.aborted) return
      await lookAtAll().catch((error: unknown) => deps.log(`tunnels: ${reasonOf(error)}`))
    }
  }

  const looking = keepLooking()

  return {
    async apply({ interfaceName: name }: TunnelPlace, tunnel: Tunnel) {
      const secret = readSiteSecret(tunnel.secret)
      if (typeof secret === 'string') return secret
      const fault = addressFault(secret, deps.network())
      if (fault !== undefined) return fault
      const remote = await findRemoteEnd(tunnel, deps.network(), deps.lookup)
      if (remote.fault !== undefined) return remote.fault
      await serially(() => place(name, { tunnel, secret, remote }))
      return undefined
    },
    remove: (name) => serially(() => (open.has(name) ? leave(name, 'remove') : deps.removeDevice(name))),
    fault: (name) => broken.get(name) ?? open.get(name)?.fault(),
    async close() {
      ending.abort()
      await looking
      await serially(() =>
        doEach(
          [...open.values()].map(
            ({ device }) =>
              () =>
                device.close(),
          ),
        ),
      )
    },
  }
}

const UNKNOWN: RemoteEnd = { endpoints: [], fault: undefined }

interface Next extends Pick<SiteTunnel, 'tunnel' | 'secret'> {
  readonly remote: RemoteEnd
}

function addressFault({ address }: SiteSecret, { cidr, ownAddress }: MeshNetwork): string | undefined {
  if (address === undefined) return undefined
  const isOfMesh = address === ownAddress || (cidr !== undefined && isInside(address, cidr))
  return isOfMesh ? 'address of the secret is one of the mesh' : undefined
}

/** iproute2 leaves the length of a host route out. */
function withLength(dst: string): string {
  return dst.includes('/') ? dst : `${dst}/32`
}
