import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createAssignments } from './assignments.ts'
import { createCheck } from './check.ts'
import { createGoneTargets } from './gone-targets.ts'
import { createIngress, type IngressDeps } from './ingress.ts'
import { createRelay } from './relay.ts'
import { createSiteToSite } from './site-to-site.ts'
import { createBridgeStatus } from './status.ts'
import { createUserAccessPeers } from './user-access-peers.ts'
import { createUserAccess } from './user-access.ts'

export { events } from './events.ts'

interface BridgeDeps extends IngressDeps {
  readonly clock: Clock
}

/** Bridges: relays, user access, public ingress and tunnels to other sites. */
export function createSlice(ports: BridgeDeps): Slice<'bridge'> {
  return {
    handlers: {
      bridge: {
        ...createRelay(ports),
        ...createUserAccess(ports),
        ...createUserAccessPeers(ports),
        ...createIngress(ports),
        ...createSiteToSite(ports),
        ...createCheck(ports),
        ...createBridgeStatus(ports),
      },
    },
    consumers: [createAssignments(ports), createGoneTargets(ports)],
  }
}
