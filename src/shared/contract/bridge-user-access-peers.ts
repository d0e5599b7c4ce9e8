import {
  BridgeUserAccessPeerList,
  BridgeUserAccessPeerRequest,
  BridgeUserAccessPeerResponse,
  PeerName,
} from './bridge-peer-schemas.ts'
import {
  BRIDGE,
  bridgeBody,
  bridgeFlags,
  bridgeRead,
  bridgeRefs,
  bridgeWrite,
  ofBridge,
  partParams,
} from './bridge-words.ts'
import type { Operations } from './operation.ts'

const PEERS = `${BRIDGE}/user-access/{slug}/peers`
const peerParams = partParams.extend({ peer: PeerName.describe('Name of the peer in the provider') })
const refs = { ...bridgeRefs, slug: 'bridge user-access' } as const
const ofProvider = [...ofBridge, 'user_access_provider_not_found'] as const

export const userAccessPeerOperations = {
  CreateBridgeUserAccessPeer: {
    ...bridgeWrite,
    ...bridgeBody,
    method: 'POST',
    path: PEERS,
    summary: 'Admit a device to a user-access provider of a bridge',
    description:
      'The device has the private key of the public key. The server gives it the lowest free address of the subnet of the provider, and the hosts of the bridge admit it within seconds.',
    params: partParams,
    body: BridgeUserAccessPeerRequest,
    audit: {
      relation: 'bridge.user_access.peer.create',
      when: 'all',
      outcomes: { peer_name_conflict: 'identity_conflict', peer_key_conflict: 'identity_conflict' },
    },
    responses: { 201: BridgeUserAccessPeerResponse },
    headers: { Location: 'Path of the new peer' },
    problems: [
      ...ofProvider,
      'invalid_slug',
      'invalid_public_key',
      'peer_subnet_missing',
      'max_peers_reached',
      'peer_name_conflict',
      'peer_key_conflict',
      'bridge_limit_exceeded',
    ],
    cli: {
      command: 'bridge user-access peers add',
      args: ['slug', 'name'],
      refs,
      flags: bridgeFlags,
      columns: ['name', 'address', 'public_key', 'created_at'],
      wide: ['provider', 'resource_id'],
      done: 'Added peer {name}.',
    },
  },
  ListBridgeUserAccessPeers: {
    ...bridgeRead,
    method: 'GET',
    path: PEERS,
    summary: 'List the peers of a user-access provider of a bridge',
    description:
      'All of them, sorted by name: the list has no pages. Beside them it has the hosts with the public keys that they report, which the devices need.',
    params: partParams,
    audit: { relation: 'bridge.user_access.peer.list', when: 'all' },
    responses: { 200: BridgeUserAccessPeerList },
    problems: [...ofProvider],
    cli: {
      command: 'bridge user-access peers list',
      args: ['slug'],
      refs,
      flags: bridgeFlags,
      rows: 'items',
      columns: ['name', 'address', 'public_key', 'created_at'],
      wide: ['provider', 'resource_id'],
    },
  },
  DeleteBridgeUserAccessPeer: {
    ...bridgeWrite,
    method: 'DELETE',
    path: `${PEERS}/{peer}`,
    summary: 'Remove a device from a user-access provider of a bridge',
    description: 'The hosts of the bridge cut it off within seconds. Its address may be given to the next peer.',
    params: peerParams,
    audit: { relation: 'bridge.user_access.peer.delete', when: 'all' },
    responses: { 204: null },
    problems: [...ofProvider, 'user_access_peer_not_found'],
    cli: {
      command: 'bridge user-access peers remove',
      args: ['slug', 'peer'],
      refs,
      flags: bridgeFlags,
      confirm: 'yes',
      done: 'Removed peer {peer}.',
    },
  },
} as const satisfies Operations
