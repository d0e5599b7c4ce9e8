import {
  BridgeUserAccessCreateRequest,
  BridgeUserAccessResponse,
  BridgeUserAccessUpdateRequest,
  wholeListOf,
} from './bridge-schemas.ts'
import {
  BRIDGE,
  bridgeBody,
  bridgeFlags,
  bridgeParams,
  bridgeRead,
  bridgeRefs,
  bridgeWrite,
  identityConflicts,
  ofBridge,
  partParams,
  replaced,
} from './bridge-words.ts'
import type { Operations } from './operation.ts'

const columns = ['slug', 'kind', 'interface_name', 'listen_port', 'max_peers', 'peer_subnet', 'auth_secret_ref']
const wide = ['resource_id', 'created_at', 'updated_at']
const refusals = [
  'port_out_of_range',
  'bridge_port_conflict',
  'interface_name_conflict',
  'subnet_overlap_with_mesh',
  'subnet_overlap_with_tunnel',
  'subnet_overlap_with_user_access',
  'bridge_limit_exceeded',
] as const
const ofSubnets = {
  sentences: {
    subnet_overlap_with_mesh: 'The subnet of the peers overlaps the addresses of the mesh.',
    subnet_overlap_with_tunnel:
      'The subnet of the peers overlaps one of a tunnel of the bridge; the problem says which.',
    subnet_overlap_with_user_access:
      'The subnet of the peers overlaps that of another provider of the bridge; the problem says which.',
  },
} as const
const refs = { ...bridgeRefs, slug: 'bridge user-access' } as const
/** A new one has no slug to look up. */
const created = {
  refs: bridgeRefs,
  handle: { member: 'slug', taken: 'slug_conflict', noun: 'bridge user-access', called: 'user-access provider' },
} as const
const flags = {
  ...bridgeFlags,
  interface_name: { name: 'interface' },
  listen_port: { name: 'port' },
  auth_secret_ref: { name: 'secret' },
} as const

export const userAccessOperations = {
  CreateBridgeUserAccessProvider: {
    ...bridgeWrite,
    ...bridgeBody,
    ...ofSubnets,
    method: 'POST',
    path: `${BRIDGE}/user-access`,
    summary: 'Create a user-access provider of a bridge',
    description: 'The hosts of the bridge listen on the port. Ports and interface names are unique in the bridge.',
    params: bridgeParams,
    body: BridgeUserAccessCreateRequest,
    audit: { relation: 'bridge.user_access.configure', when: 'all', ...identityConflicts },
    responses: { 201: BridgeUserAccessResponse },
    headers: { Location: 'Path of the new user-access provider' },
    problems: [...ofBridge, 'slug_conflict', ...refusals],
    cli: {
      command: 'bridge user-access create',
      args: ['slug'],
      ...created,
      flags,
      columns,
      wide,
      done: 'Created user-access provider {slug}.',
    },
  },
  ListBridgeUserAccessProviders: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/user-access`,
    summary: 'List the user-access providers of a bridge',
    description: 'All of them, sorted by slug: the list has no pages.',
    params: bridgeParams,
    audit: { relation: 'bridge.user_access.read', when: 'all' },
    responses: {
      200: wholeListOf(BridgeUserAccessResponse).meta({
        id: 'BridgeUserAccessList',
        description: 'All user-access providers of a bridge.',
      }),
    },
    problems: [...ofBridge],
    cli: { command: 'bridge user-access list', refs: bridgeRefs, flags: bridgeFlags, columns, wide },
  },
  GetBridgeUserAccessProvider: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/user-access/{slug}`,
    summary: 'Show a user-access provider of a bridge',
    description: 'The secret is shown as a reference, never as a value.',
    params: partParams,
    audit: { relation: 'bridge.user_access.read', when: 'all' },
    responses: { 200: BridgeUserAccessResponse },
    problems: [...ofBridge, 'user_access_provider_not_found'],
    cli: { command: 'bridge user-access show', args: ['slug'], refs, flags: bridgeFlags, columns, wide },
  },
  UpdateBridgeUserAccessProvider: {
    ...bridgeWrite,
    ...bridgeBody,
    ...replaced,
    sentences: {
      ...ofSubnets.sentences,
      max_peers_reached: 'The provider has more peers than that; the problem has the number.',
    },
    method: 'PATCH',
    path: `${BRIDGE}/user-access/{slug}`,
    summary: 'Replace the configuration of a user-access provider of a bridge',
    description:
      'The body is the whole configuration. Without `peer_subnet` the provider keeps the one that it has; null takes it away.',
    params: partParams,
    body: BridgeUserAccessUpdateRequest,
    audit: { relation: 'bridge.user_access.update', when: 'all', ...identityConflicts },
    responses: { 200: BridgeUserAccessResponse },
    problems: [...ofBridge, 'user_access_provider_not_found', ...refusals, 'peer_subnet_in_use', 'max_peers_reached'],
    cli: {
      command: 'bridge user-access update',
      summary: 'Change a user-access provider of a bridge',
      args: ['slug'],
      refs,
      flags,
      columns,
      wide,
      done: 'Changed user-access provider {slug}.',
    },
  },
  DeleteBridgeUserAccessProvider: {
    ...bridgeWrite,
    method: 'DELETE',
    path: `${BRIDGE}/user-access/{slug}`,
    summary: 'Delete a user-access provider of a bridge',
    description: 'The hosts of the bridge close its port and drop its peers, which are deleted, too.',
    params: partParams,
    audit: { relation: 'bridge.user_access.remove', when: 'all' },
    responses: { 204: null },
    problems: [...ofBridge, 'user_access_provider_not_found'],
    cli: {
      command: 'bridge user-access delete',
      args: ['slug'],
      refs,
      flags: bridgeFlags,
      confirm: 'yes',
      done: 'Deleted user-access provider {slug}.',
    },
  },
} as const satisfies Operations
