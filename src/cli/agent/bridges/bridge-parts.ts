import type { AgentCore } from '../agent-core.ts'
import type { BridgeParts } from './bridge-hosts.ts'
import { unsupportedPart } from './bridge-part.ts'
import { createRelayPart, type RelayPart, type RelayPartDeps } from './relay/relay-part.ts'
import { userAccessDeps } from './user-access/user-access-deps.ts'
import { createUserAccessPart } from './user-access/user-access-part.ts'

/** What the parts need of this machine. */
export interface BridgePartsDeps {
  readonly core: AgentCore
  /** The peers between which a relay forwards. */
  readonly relayPeers: RelayPartDeps['peers']
}

/** Makes the parts of bridges that this machine can run. */
export function createBridgeParts({ core, relayPeers }: BridgePartsDeps): BridgeParts & { readonly relay: RelayPart } {
  const { log, clock } = core
  return {
    relay: createRelayPart({ peers: relayPeers, log: (line) => log.line(line), now: () => clock.now() }),
    ingress: unsupportedPart('ingress'),
    tunnels: unsupportedPart('tunnels to other sites'),
    userAccess: createUserAccessPart(userAccessDeps(core, { enforceForwards: async () => undefined })),
  }
}
