import { ingressOperations } from './bridge-ingress.ts'
import { relayOperations } from './bridge-relay.ts'
import { BridgeCheckRequest, BridgeCheckResponse, BridgeStatus } from './bridge-schemas.ts'
import { siteToSiteOperations } from './bridge-site-to-site.ts'
import { userAccessOperations } from './bridge-user-access.ts'
import { userAccessPeerOperations } from './bridge-user-access-peers.ts'
import { BRIDGE, bridgeBody, bridgeFlags, bridgeParams, bridgeRead, bridgeRefs, ofBridge } from './bridge-words.ts'
import { KiB } from './fields.ts'
import { defineSurface } from './operation.ts'

export const bridge = defineSurface(
  'bridge',
  {
    summary: 'Bridges: relays, user access, public ingress and tunnels to other sites',
    nouns: { bridge: { section: 'Fleet', position: 7, files: 'managed' } },
  },
  {
    ...relayOperations,
    ...userAccessOperations,
    ...userAccessPeerOperations,
    ...ingressOperations,
    ...siteToSiteOperations,
    CheckBridge: {
      ...bridgeRead,
      ...bridgeBody,
      bodyBytesMax: 64 * KiB,
      method: 'POST',
      path: `${BRIDGE}/check`,
      summary: 'Find every conflict of a bridge, without changing it',
      description:
        'Checks the bridge as it is stored, with the parts of the body in the place of the stored ones. Beside what a write is refused for it names what has become wrong since: targets that are gone, secrets that are missing, ACME directories that do not answer. What the stored bridge does not name is looked up only for callers that may manage the bridge.',
      params: bridgeParams,
      body: BridgeCheckRequest,
      access: 'read',
      idempotent: true,
      audit: { relation: 'bridge.check', when: 'all' },
      responses: { 200: BridgeCheckResponse },
      problems: [...ofBridge, 'port_out_of_range', 'allowed_subnet_empty'],
      cli: {
        command: 'bridge check',
        args: ['resource_id'],
        refs: bridgeRefs,
        flags: bridgeFlags,
        rows: 'conflicts',
        rowsAreNegative: true,
        columns: ['part', 'conflicts_with', 'code', 'detail'],
      },
    },
    GetBridgeStatus: {
      ...bridgeRead,
      method: 'GET',
      path: `${BRIDGE}/status`,
      summary: 'Show what each host of a bridge has applied',
      description: 'Follows from the reports of the hosts. A host without a report is listed, too.',
      params: bridgeParams,
      audit: { relation: 'bridge.status.read', when: 'all' },
      responses: { 200: BridgeStatus },
      problems: [...ofBridge],
      cli: {
        command: 'bridge status',
        args: ['resource_id'],
        refs: bridgeRefs,
        flags: bridgeFlags,
        rows: 'hosts',
        columns: ['name', 'in_sync', 'applied_at', 'error', 'node_id'],
        wide: ['fingerprint', 'secrets', 'reported_at'],
      },
    },
  },
)
