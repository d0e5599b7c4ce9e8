import type { AgentClock } from '../../../../../client/agent/agent-clock.ts'
import type { Device, DeviceOptions } from '../../../device/device.ts'
import { readIp, type IpRoute } from '../../../doctor/read-ip.ts'
import { reasonOf } from '../../../errors.ts'
import type { MeshNetwork } from '../../../server-answers/mesh-network.ts'
import type { AddressLookup } from '../../../sessions/address-lookup.ts'
import type { RunProgram } from '../../../system/run-program.ts'
import type { Surroundings } from '../../../server-answers/subnet-fault.ts'
import type { Tunnel, TunnelDriver, TunnelPlace } from '../tunnel-driver.ts'
import { addressFault } from './address-fault.ts'
import { findRemoteEnd, type RemoteEnd } from './remote-end.ts'
import { createOpenSites, type OpenSites } from './open-sites.ts'
import { readSiteSecret } from './site-secret.ts'
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
  readonly surroundings: () => Promise<Surroundings>
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
  const ending = new AbortController()
  const serially = createQueue()
  const sites: OpenSites = createOpenSites({
    ...deps,
    openInterface: (name, { privateKey, listenPort }) => {
      const onRestarted = (): void => void serially(() => sites.putAgain(name)).then(deps.onRestarted)
      return deps.openDevice({ ...deps.device, name, privateKey, listenPort, onRestarted })
    },
    remake: ({ tunnel, secret }, device) => siteTunnel(deps, { tunnel, secret, device }, UNKNOWN),
  })

  async function lookAtAll(): Promise<void> {
    for (const [name, site] of sites.list()) {
      await serially(async () => {
        if (sites.find(name) === site) sites.note(name, await site.look().then(() => undefined, reasonOf))
      })
    }
    // A machine without such tunnels, as most are, runs no program for them.
    if (sites.list().length === 0) return
    const routes = await readIp<IpRoute>(deps.run, ['-4', 'route', 'show'])
    for (const [name, site] of sites.list()) {
      const own = new Set(routes.flatMap(({ dst = '', dev }) => (dev === name ? [withLength(dst)] : [])))
      if (site.misses(own)) await serially(() => sites.putAgain(name))
    }
  }

  async function keepLooking(): Promise<void> {
    while (!ending.signal.aborted) {
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
      const { address } = secret
      const fault = address === undefined ? undefined : addressFault(address, await deps.surroundings())
      if (fault !== undefined) return fault
      const remote = await findRemoteEnd(tunnel, deps.network(), deps.lookup)
      if (remote.fault !== undefined) return remote.fault
      await serially(() => sites.place(name, secret, (device) => siteTunnel(deps, { tunnel, secret, device }, remote)))
      return undefined
    },
    remove: (name) => serially(() => sites.remove(name)),
    fault: (name) => sites.fault(name),
    async close() {
      ending.abort()
      await looking
      await serially(() => sites.close())
    },
  }
}

const UNKNOWN: RemoteEnd = { endpoints: [], fault: undefined }

function siteTunnel(
  { network, lookup, clock }: WireguardDeps,
  parts: Pick<SiteTunnel, 'tunnel' | 'secret' | 'device'>,
  remote: RemoteEnd,
): SiteTunnel {
  const find = () => findRemoteEnd(parts.tunnel, network(), lookup)
  return createSiteTunnel({ ...parts, remote, find, network, now: () => clock.now() })
}

/** Runs one job after another. */
function createQueue(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** iproute2 leaves the length of a host route out. */
function withLength(dst: string): string {
  return dst.includes('/') ? dst : `${dst}/32`
}
