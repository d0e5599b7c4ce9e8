import {
  BridgeIngressCreateRequest,
  BridgeIngressResponse,
  BridgeIngressUpdateRequest,
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

const ofRules = {
  sentences: { slug_conflict: 'Another ingress rule of the bridge has this slug or this host name.' },
} as const
const columns = ['slug', 'sni_host', 'target_node_id', 'target_port', 'acme_account_ref']
const wide = ['resource_id', 'created_at', 'updated_at']
const refusals = [
  'port_out_of_range',
  'secret_ref_malformed',
  'target_node_not_in_domain',
  'bridge_port_conflict',
  'acme_directory_unreachable',
  'secret_store_unavailable',
  'bridge_limit_exceeded',
] as const
const nodes = { target_node_id: 'nodes' } as const
const refs = { ...bridgeRefs, slug: 'bridge ingress' } as const
/** A new one has no slug to look up. */
const created = {
  refs: { ...bridgeRefs, ...nodes },
  handle: { member: 'slug', taken: 'slug_conflict', noun: 'bridge ingress', called: 'ingress rule' },
} as const
const flags = { ...bridgeFlags, sni_host: { name: 'host' }, acme_account_ref: { name: 'acme' } } as const

export const ingressOperations = {
  CreateBridgeIngressRule: {
    ...bridgeWrite,
    ...bridgeBody,
    ...ofRules,
    method: 'POST',
    path: `${BRIDGE}/ingress`,
    summary: 'Create an ingress rule of a bridge',
    description: 'Connections for the server name are forwarded to one node. The server name is unique in the bridge.',
    params: bridgeParams,
    body: BridgeIngressCreateRequest,
    audit: { relation: 'bridge.ingress.configure', when: 'all', ...identityConflicts },
    responses: { 201: BridgeIngressResponse },
    headers: { Location: 'Path of the new ingress rule' },
    problems: [...ofBridge, 'slug_conflict', ...refusals],
    cli: {
      command: 'bridge ingress create',
      args: ['slug'],
      ...created,
      flags,
      columns,
      wide,
      done: 'Created ingress rule {slug}.',
    },
  },
  ListBridgeIngressRules: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/ingress`,
    summary: 'List the ingress rules of a bridge',
    description: 'All of them, sorted by slug: the list has no pages.',
    params: bridgeParams,
    audit: { relation: 'bridge.ingress.read', when: 'all' },
    responses: {
      200: wholeListOf(BridgeIngressResponse).meta({
        id: 'BridgeIngressList',
        description: 'All ingress rules of a bridge.',
      }),
    },
    problems: [...ofBridge],
    cli: { command: 'bridge ingress list', refs: bridgeRefs, flags: bridgeFlags, columns, wide },
  },
  GetBridgeIngressRule: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/ingress/{slug}`,
    summary: 'Show an ingress rule of a bridge',
    description: 'An ACME account is shown as a reference or an address, never as a key.',
    params: partParams,
    audit: { relation: 'bridge.ingress.read', when: 'all' },
    responses: { 200: BridgeIngressResponse },
    problems: [...ofBridge, 'ingress_rule_not_found'],
    cli: { command: 'bridge ingress show', args: ['slug'], refs, flags: bridgeFlags, columns, wide },
  },
  UpdateBridgeIngressRule: {
    ...bridgeWrite,
    ...bridgeBody,
    ...ofRules,
    ...replaced,
    method: 'PATCH',
    path: `${BRIDGE}/ingress/{slug}`,
    summary: 'Replace the configuration of an ingress rule of a bridge',
    description: 'The body is the whole configuration: an optional member that is absent gets its default.',
    params: partParams,
    body: BridgeIngressUpdateRequest,
    audit: { relation: 'bridge.ingress.update', when: 'all', ...identityConflicts },
    responses: { 200: BridgeIngressResponse },
    problems: [...ofBridge, 'ingress_rule_not_found', 'slug_conflict', ...refusals],
    cli: {
      command: 'bridge ingress update',
      summary: 'Change an ingress rule of a bridge',
      args: ['slug'],
      refs: { ...refs, ...nodes },
      flags,
      columns,
      wide,
      done: 'Changed ingress rule {slug}.',
    },
  },
  DeleteBridgeIngressRule: {
    ...bridgeWrite,
    method: 'DELETE',
    path: `${BRIDGE}/ingress/{slug}`,
    summary: 'Delete an ingress rule of a bridge',
    description: 'The hosts of the bridge no longer accept connections for its server name.',
    params: partParams,
    audit: { relation: 'bridge.ingress.remove', when: 'all' },
    responses: { 204: null },
    problems: [...ofBridge, 'ingress_rule_not_found'],
    cli: {
      command: 'bridge ingress delete',
      args: ['slug'],
      refs,
      flags: bridgeFlags,
      confirm: 'yes',
      done: 'Deleted ingress rule {slug}.',
    },
  },
} as const satisfies Operations
