import { BridgeRelayRequest, BridgeRelayResponse } from './bridge-schemas.ts'
import {
  BRIDGE,
  bridgeBody,
  bridgeFlags,
  bridgeParams,
  bridgeRead,
  bridgeRefs,
  bridgeWrite,
  ofBridge,
} from './bridge-words.ts'
import type { Operations } from './operation.ts'

const columns = ['enabled', 'listen_port', 'created_at', 'updated_at', 'resource_id']

export const relayOperations = {
  GetBridgeRelay: {
    ...bridgeRead,
    method: 'GET',
    path: `${BRIDGE}/relay`,
    summary: 'Show the relay of a bridge',
    description: 'A bridge has at most one relay.',
    params: bridgeParams,
    audit: { relation: 'bridge.relay.read', when: 'all' },
    responses: { 200: BridgeRelayResponse },
    problems: [...ofBridge, 'bridge_relay_not_found'],
    cli: { command: 'bridge relay show', args: ['resource_id'], refs: bridgeRefs, flags: bridgeFlags, columns },
  },
  ConfigureBridgeRelay: {
    ...bridgeWrite,
    ...bridgeBody,
    method: 'PUT',
    path: `${BRIDGE}/relay`,
    summary: 'Configure the relay of a bridge',
    description: 'Replaces the whole configuration. A call that changes nothing writes nothing.',
    params: bridgeParams,
    body: BridgeRelayRequest,
    audit: { relation: 'bridge.relay.configure', when: 'all' },
    responses: { 200: BridgeRelayResponse },
    problems: [...ofBridge, 'port_out_of_range', 'bridge_port_conflict', 'bridge_limit_exceeded'],
    cli: {
      command: 'bridge relay set',
      args: ['resource_id'],
      refs: bridgeRefs,
      flags: { ...bridgeFlags, listen_port: { name: 'port' } },
      columns,
    },
  },
} as const satisfies Operations
