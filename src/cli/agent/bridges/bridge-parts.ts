import type { AgentCore } from '../agent-core.ts'
import type { BridgeParts } from './bridge-hosts.ts'
import type { IngressPart } from './ingress/ingress-part.ts'
import { openIngress, type IngressPorts } from './ingress/open-ingress.ts'
import { createRelayPart, type RelayPart, type RelayPartDeps } from './relay/relay-part.ts'
import { openTunnels, type TunnelPorts } from './tunnels/open-tunnels.ts'
import { userAccessDeps } from './user-access/user-access-deps.ts'
import { createUserAccessPart } from './user-access/user-access-part.ts'

/** What the machine gives the parts. */
export interface BridgePartsPorts extends TunnelPorts, IngressPorts {
  /** The peers between which a relay forwards. */
  readonly relayPeers: RelayPartDeps['peers']
}

/** The parts, with what the machine reads of them. */
export type OpenParts = BridgeParts & { readonly relay: RelayPart; readonly ingress: IngressPart }

/** Makes the parts of bridges that this machine can run. */
export function createBridgeParts(core: AgentCore, ports: BridgePartsPorts): OpenParts {
  const { log, clock } = core
  return {
    relay: createRelayPart({ peers: ports.relayPeers, log: (line) => log.line(line), now: () => clock.now() }),
    ingress: openIngress(core, ports),
    tunnels: openTunnels(core, ports),
    userAccess: createUserAccessPart(userAccessDeps(core, ports)),
  }
}
