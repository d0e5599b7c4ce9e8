import { z } from 'zod'
import { BridgeSlug } from './bridge-schemas.ts'
import { CreatedAt, OfNode, Uuid } from './fields.ts'
import { PublicKey } from './node-schemas.ts'

export const PeerName = BridgeSlug.meta({
  problem: 'invalid_slug',
  description:
    'Name of the peer, unique in the provider: lower-case letters, digits and inner hyphens, at most 63; one for each device, such as ann-phone',
})

export const BridgeUserAccessPeerRequest = z
  .strictObject({
    name: PeerName,
    public_key: PublicKey.describe('Public key of the device: Curve25519, 32 bytes in padded base64'),
  })
  .meta({ id: 'BridgeUserAccessPeerRequest', description: 'A device that may connect to a user-access provider.' })

export const BridgeUserAccessPeerResponse = z
  .object({
    resource_id: Uuid.describe('The bridge'),
    provider: z.string().describe('Slug of the user-access provider'),
    name: z.string().describe('Name of the peer, unique in the provider'),
    public_key: z.string().describe('Public key of the device'),
    address: z.string().describe('IPv4 address that the server gave it, of the peer_subnet of the provider'),
    created_at: CreatedAt,
  })
  .meta({ id: 'BridgeUserAccessPeerResponse', description: 'A device that may connect to a user-access provider.' })

const BridgeUserAccessHost = z.object({
  node_id: OfNode,
  name: z.string().describe('Name of the host'),
  public_key: z
    .string()
    .nullable()
    .describe('Public key of the provider, as the host reports it; null until it has applied the provider'),
  address: z.string().nullable().describe('Address at which the host is reached; null where none is known'),
})

export const BridgeUserAccessPeerList = z
  .object({
    items: z.array(BridgeUserAccessPeerResponse).describe('Sorted by name'),
    hosts: z.array(BridgeUserAccessHost).describe('Hosts of the bridge, to which peers connect; ascending by node id'),
    mesh_cidr: z.string().describe('Addresses of the mesh, which peers route to a host'),
  })
  .meta({
    id: 'BridgeUserAccessPeerList',
    description: 'All peers of a user-access provider, and what their configuration needs of the hosts.',
  })
