import {
  BridgeSiteToSiteCreateRequest,
  BridgeSiteToSiteResponse,
  BridgeSiteToSiteUpdateRequest,
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

const columns = ['slug', 'kind', 'remote_host', 'remote_port', 'allowed_subnets', 'routing_policy']
const wide = ['resource_id', 'created_at', 'updated_at']
const refusals = [
  'port_out_of_range',
  'allowed_subnet_empty',
  'subnet_overlap_with_mesh',
  'subnet_overlap_with_tunnel',
  'subnet_overlap_with_user_access',
  'bridge_limit_exceeded',
] as const
const refs = { ...bridgeRefs, slug: 'bridge site-to-site' } as const
/** A new one has no slug to look up. */
const created = {
  refs: bridgeRefs,
  handle: { member: 'slug', taken: 'slug_conflict', noun: 'bridge site-to-site', called: 'site-to-site tunnel' },
} as const
const flags = {
  ...bridgeFlags,
  auth_secret_ref: { name: 'secret' },
  allowed_subnets: { name: 'subnets' },
} as const

export const siteToSiteOperations = {
  CreateBridgeSiteToSiteTunnel: {
    ...bridgeWrite,
    ...bridgeBody,
    method: 'POST',
    path: `${BRIDGE}/site-to-site`,
    summary: 'Create a site-to-site tunnel of a bridge',
    description: 'The networks behind the other end must overlap neither the mesh nor another tunnel.',
    params: bridgeParams,
    body: BridgeSiteToSiteCreateRequest,
    audit: { relation: 'bridge.site_to_site.configure', when: 'all', ...identityConflicts },
    responses: { 201: BridgeSiteToSiteResponse },
    headers: { Location: 'Path of the new site-to-site tunnel' },
    problems: [...ofBridge, 'slug_conflict', ...refusals],
    cli: {
      command: 'bridge site-to-site create',
      args: ['slug'],
      ...created,
      flags,
      columns,
      wide,
      done: 'Created site-to-site tunnel {slug}.',
    },
  },
  ListBridgeSiteToSiteTunnels: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/site-to-site`,
    summary: 'List the site-to-site tunnels of a bridge',
    description: 'All of them, sorted by slug: the list has no pages.',
    params: bridgeParams,
    audit: { relation: 'bridge.site_to_site.read', when: 'all' },
    responses: {
      200: wholeListOf(BridgeSiteToSiteResponse).meta({
        id: 'BridgeSiteToSiteList',
        description: 'All site-to-site tunnels of a bridge.',
      }),
    },
    problems: [...ofBridge],
    cli: { command: 'bridge site-to-site list', refs: bridgeRefs, flags: bridgeFlags, columns, wide },
  },
  GetBridgeSiteToSiteTunnel: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/site-to-site/{slug}`,
    summary: 'Show a site-to-site tunnel of a bridge',
    description: 'The secret is shown as a reference, never as a value.',
    params: partParams,
    audit: { relation: 'bridge.site_to_site.read', when: 'all' },
    responses: { 200: BridgeSiteToSiteResponse },
    problems: [...ofBridge, 'site_to_site_tunnel_not_found'],
    cli: { command: 'bridge site-to-site show', args: ['slug'], refs, flags: bridgeFlags, columns, wide },
  },
  UpdateBridgeSiteToSiteTunnel: {
    ...bridgeWrite,
    ...bridgeBody,
    ...replaced,
    method: 'PATCH',
    path: `${BRIDGE}/site-to-site/{slug}`,
    summary: 'Replace the configuration of a site-to-site tunnel of a bridge',
    description: 'The body is the whole configuration: an optional member that is absent gets its default.',
    params: partParams,
    body: BridgeSiteToSiteUpdateRequest,
    audit: { relation: 'bridge.site_to_site.update', when: 'all', ...identityConflicts },
    responses: { 200: BridgeSiteToSiteResponse },
    problems: [...ofBridge, 'site_to_site_tunnel_not_found', ...refusals],
    cli: {
      command: 'bridge site-to-site update',
      summary: 'Change a site-to-site tunnel of a bridge',
      args: ['slug'],
      refs,
      flags,
      columns,
      wide,
      done: 'Changed site-to-site tunnel {slug}.',
    },
  },
  DeleteBridgeSiteToSiteTunnel: {
    ...bridgeWrite,
    method: 'DELETE',
    path: `${BRIDGE}/site-to-site/{slug}`,
    summary: 'Delete a site-to-site tunnel of a bridge',
    description: 'The hosts of the bridge close the tunnel, and its networks are no longer reached.',
    params: partParams,
    audit: { relation: 'bridge.site_to_site.remove', when: 'all' },
    responses: { 204: null },
    problems: [...ofBridge, 'site_to_site_tunnel_not_found'],
    cli: {
      command: 'bridge site-to-site delete',
      args: ['slug'],
      refs,
      flags: bridgeFlags,
      confirm: 'yes',
      done: 'Deleted site-to-site tunnel {slug}.',
    },
  },
} as const satisfies Operations
