import type { AgentCore } from '../agent-core.ts'
import type { BridgeParts } from './bridge-hosts.ts'
import { unsupportedPart, type BridgePart } from './bridge-part.ts'
import { userAccessDeps } from './user-access/user-access-deps.ts'
import { createUserAccessPart } from './user-access/user-access-part.ts'
import type { WantedRelay } from './wanted-parts.ts'

/** Makes the parts of bridges that this machine can run. */
export function createBridgeParts(core: AgentCore): BridgeParts {
  return {
    relay: unsupportedRelay(),
    ingress: unsupportedPart('ingress'),
    tunnels: unsupportedPart('tunnels to other sites'),
    userAccess: createUserAccessPart(userAccessDeps(core, { enforceForwards: async () => undefined })),
  }
}

function unsupportedRelay(): BridgePart<WantedRelay> {
  const part = unsupportedPart('a relay')
  return { ...part, apply: (bridgeId, wanted) => part.apply(bridgeId, wanted?.enabled === true ? [wanted] : []) }
}
