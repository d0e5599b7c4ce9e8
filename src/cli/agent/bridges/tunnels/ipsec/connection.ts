import { createHash } from 'node:crypto'
import { spanOf } from '../../../../../shared/bridges/subnet.ts'
import { checkedRemote, checkedSubnet, checkedSubnets } from '../checked-tunnel.ts'
import { tunnelFault } from '../tunnel-fault.ts'
import type { Tunnel } from '../tunnel-driver.ts'
import type { IpsecSecret } from './ipsec-secret.ts'
import type { Proposals } from './proposals.ts'
import type { ViciSection } from './vici-message.ts'

/** The port of IKE (RFC 7296 §2), which moves to 4500 behind a NAT. */
const IKE_PORT = 500
/** A port for both IKE and ESP (RFC 3948): where the other end has a port of its own, this end begins here. */
const NAT_PORT = 4500

/** The name of the connection and of its shared key in charon, by which they are found again. */
export function connectionName(interfaceName: string): string {
  return `ctl-${interfaceName}`
}

/** The id that ties the policies of a tunnel to its XFRM interface: the same for the same name, never 0. */
export function interfaceId(interfaceName: string): number {
  return createHash('sha256').update(interfaceName).digest().readUInt32BE() || 1
}

/** Where and how a tunnel is run. */
export interface ConnectionPlace {
  readonly interfaceName: string
  readonly meshCidr: string | undefined
  readonly proposals: Proposals
}

/**
 * The connection of a tunnel, as charon's `load-conn` takes it. The keys are those of swanctl.conf(5). A value has a length there,
 * so that no text can end it.
 */
export function connectionOf(tunnel: Tunnel, secret: IpsecSecret, place: ConnectionPlace): ViciSection {
  const { host, port } = checkedRemote(tunnel)
  const name = connectionName(place.interfaceName)
  const id = String(interfaceId(place.interfaceName))
  return {
    [name]: {
      version: '2',
      remote_addrs: [host],
      ...(port === IKE_PORT ? {} : { local_port: String(NAT_PORT), remote_port: String(port) }),
      proposals: place.proposals.ike,
      mobike: 'no',
      dpd_delay: '30s',
      keyingtries: '0',
      unique: 'replace',
      if_id_in: id,
      if_id_out: id,
      local: { auth: 'psk', ...(secret.localId === undefined ? {} : { id: secret.localId }) },
      remote: { auth: 'psk', id: remoteIdOf(tunnel, secret) },
      children: {
        [name]: {
          mode: 'tunnel',
          local_ts: localSubnetsOf(secret, place.meshCidr),
          remote_ts: checkedSubnets(tunnel),
          esp_proposals: place.proposals.esp,
          ...actionsOf(tunnel),
        },
      },
    },
  }
}

/** The shared key of a tunnel, as `load-shared` takes it. It is used for this other end alone, whatever else charon has. */
export function sharedKeyOf(tunnel: Tunnel, secret: IpsecSecret, interfaceName: string): ViciSection {
  const owners = [remoteIdOf(tunnel, secret), ...(secret.localId === undefined ? [] : [secret.localId])]
  return { id: connectionName(interfaceName), type: 'IKE', data: secret.psk, owners }
}

/** Who begins: the other end alone where only its connections are admitted. */
export function isInitiator({ routing_policy: policy }: Tunnel): boolean {
  return policy !== 'ingress_only'
}

function actionsOf(tunnel: Tunnel): ViciSection {
  return isInitiator(tunnel)
    ? { start_action: 'start', close_action: 'start', dpd_action: 'restart' }
    : { start_action: 'none', close_action: 'none', dpd_action: 'clear' }
}

function remoteIdOf(tunnel: Tunnel, { remoteId }: IpsecSecret): string {
  return remoteId ?? checkedRemote(tunnel).host
}

function localSubnetsOf({ localSubnets }: IpsecSecret, meshCidr: string | undefined): readonly string[] {
  if (meshCidr === undefined) throw tunnelFault('The server does not name the addresses of the mesh; upgrade it.')
  const mesh = spanOf(checkedSubnet(meshCidr))
  const isInMesh = (subnet: string) => {
    const { family, first, last } = spanOf(subnet)
    return family === mesh.family && first >= mesh.first && last <= mesh.last
  }
  if (localSubnets?.every(isInMesh) === false) {
    throw tunnelFault(`The secret has "local_subnets" outside of the mesh, ${meshCidr}.`)
  }
  return localSubnets ?? [meshCidr]
}
