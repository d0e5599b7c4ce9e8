import { isIPv4 } from 'node:net'
import type { Device, PeerStatus } from '../../../device/device.ts'
import { hasSession } from '../../../device/session-age.ts'
import { parseEndpoint } from '../../../endpoints/endpoint-address.ts'
import type { MeshNetwork } from '../../../server-answers/mesh-network.ts'
import type { Tunnel } from '../tunnel-driver.ts'
import type { RemoteEnd } from './remote-end.ts'
import type { SiteSecret } from './site-secret.ts'

/** A WireGuard tunnel on an open interface. */
export interface SiteTunnel {
  readonly tunnel: Tunnel
  readonly secret: SiteSecret
  readonly device: Device
  /** Gives the interface its peer, address and routes. @throws CliError where it does not take them */
  put(): Promise<void>
  /** Looks whether the other end answers, and for its address where it does not. */
  look(): Promise<void>
  /** Whether its routes are missing among those of this machine: with an address of the mesh they go when that goes. */
  misses(routes: ReadonlySet<string>): boolean
  fault(): string | undefined
}

/** What a tunnel needs. */
export interface SiteTunnelDeps extends Pick<SiteTunnel, 'tunnel' | 'secret' | 'device'> {
  /** As it was found last. */
  readonly remote: RemoteEnd
  readonly find: () => Promise<RemoteEnd>
  readonly network: () => MeshNetwork
  readonly now: () => number
}

const KEEPALIVE_SECONDS = 25
/** So often the name of an end that answers is resolved. */
const RESOLVE_MS = 300_000
/** The other end has this time to answer at an address before the next one is tried. */
const TRY_MS = 15_000
/** A tunnel that carries nothing for so long does not work: as long as a session of WireGuard lives. */
const SILENT_MS = 180_000

/** Makes the tunnel. Nothing is changed before `put`. */
export function createSiteTunnel(deps: SiteTunnelDeps): SiteTunnel {
  const { tunnel, secret, device, now } = deps
  const openedMs = now()
  let remote = deps.remote
  let [resolvedMs, movedMs] = [openedMs, openedMs]
  let place = 0
  let aliveMs: number | undefined
  const { peerPublicKey: publicKey } = secret

  async function peerOf(): Promise<PeerStatus | undefined> {
    const { peers } = await device.status()
    return peers.find((peer) => peer.publicKey === publicKey)
  }

  async function putPeer(endpoint: string | undefined, remove: readonly string[] = []): Promise<void> {
    const peer = { publicKey, presharedKey: secret.presharedKey, endpoint, allowedIps: tunnel.allowed_subnets }
    await device.change({ put: [{ ...peer, keepaliveSeconds: KEEPALIVE_SECONDS }], remove })
  }

  /** An end that roams is where its packets come from: the address stays while it answers and is one of its own. */
  function isCurrent(peer: PeerStatus | undefined): boolean {
    if (peer?.endpoint === undefined || !hasSession(peer, now())) return false
    const host = parseEndpoint(peer.endpoint)?.host
    return remote.endpoints.length === 0 || remote.endpoints.some((one) => parseEndpoint(one)?.host === host)
  }

  async function resolve(): Promise<void> {
    const found = await deps.find()
    resolvedMs = now()
    // A resolver that does not answer takes away no address that worked.
    if (found.endpoints.length > 0 || found.fault !== undefined) remote = found
  }

  async function move(peer: PeerStatus | undefined): Promise<void> {
    const { endpoints } = remote
    if (endpoints.length === 0) return
    place = (place + 1) % endpoints.length
    movedMs = now()
    const endpoint = endpoints[place]
    if (endpoint === peer?.endpoint) return
    await putPeer(endpoint)
    await device.wake([publicKey])
  }

  return {
    tunnel,
    secret,
    device,
    async put() {
      const { peers } = await device.status()
      const others = peers.map((peer) => peer.publicKey).filter((key) => key !== publicKey)
      const own = peers.find((peer) => peer.publicKey === publicKey)
      await putPeer(isCurrent(own) ? undefined : remote.endpoints[place], others)
      const { address } = secret
      await device.setAddress(address)
      const source = address !== undefined && isIPv4(address) ? address : deps.network().ownAddress
      await device.setRoutes(tunnel.allowed_subnets, source)
    },
    async look() {
      const peer = await peerOf()
      const isAlive = peer !== undefined && hasSession(peer, now())
      if (isAlive) aliveMs = now()
      if (!isAlive || now() - resolvedMs >= RESOLVE_MS) await resolve()
      const isDue = isAlive ? !isCurrent(peer) : peer?.endpoint === undefined || now() - movedMs >= TRY_MS
      if (isDue) await move(peer)
    },
    misses: (routes) => tunnel.allowed_subnets.some((subnet) => isIPv4Subnet(subnet) && !routes.has(subnet)),
    fault() {
      if (remote.fault !== undefined) return remote.fault
      if (now() - (aliveMs ?? openedMs) < SILENT_MS) return undefined
      const { remote_host: host, remote_port: port } = tunnel
      return remote.endpoints.length === 0
        ? `the name ${host} cannot be resolved`
        : `${host}, UDP port ${port}, has not answered for three minutes`
    },
  }
}

function isIPv4Subnet(subnet: string): boolean {
  return !subnet.includes(':')
}
