import type { MemberDeps } from '../../../client/agent/agent-deps.ts'
import type { AgentCore } from '../agent-core.ts'
import type { Machine } from '../machine.ts'
import type { PeriodicWork } from '../process/periodic-work.ts'
import type { RealMember } from '../real-member.ts'
import { localAddressTowards } from '../system/local-address.ts'
import { isOwnLink } from '../system/own-links.ts'
import { createDirectSearch } from './candidates.ts'
import { localCandidates, localNetworks } from './local-networks.ts'
import { createLostPeers } from './lost-peers.ts'
import { createObservedReports } from './observed-reports.ts'
import { addressesExcept, createOwnEndpoint } from './own-endpoint.ts'
import type { PathClock } from './path-clock.ts'
import { createPathReports } from './path-reports.ts'
import { createPeerWatch } from './peer-watch.ts'

/** What the work needs. */
export interface EndpointWorkDeps {
  readonly core: AgentCore
  readonly machine: Machine
  readonly agent: MemberDeps<RealMember>
}

const OWN_EVERY_MS = 2_000

/** What the agent does about endpoints. */
export interface EndpointWork {
  readonly own: PeriodicWork
  readonly ofPeers: PeriodicWork
}

/** Makes the work on the own endpoint and those of the peers. */
export function endpointWork({ core, machine, agent }: EndpointWorkDeps): EndpointWork {
  const { member, log, state, connection, clock } = core
  const { device, applier, paths, relays, work } = machine
  const isOwn = (name: string): boolean => name === device.name || isOwnLink(name, state.enrolment.node_id)
  const time: PathClock = { now: () => clock.now(), steady: () => performance.now() }
  const own = createOwnEndpoint({
    agent,
    member,
    device,
    log,
    localAddress: () => localAddressTowards(state.server.url),
    addresses: () => addressesExcept(device.name),
    candidates: (port) => localCandidates(localNetworks(isOwn), { port, mesh: machine.network().cidr }),
    onMoved(uplink, isFirst) {
      machine.uplinkChanged(uplink)
      if (!isFirst) connection.reconnect()
    },
  })
  const watch = createPeerWatch({
    device,
    applier,
    paths,
    relays,
    pathReports: createPathReports({ agent, member }),
    lostPeers: createLostPeers(time),
    search: createDirectSearch(time, () => localNetworks(isOwn)),
    reports: createObservedReports({ agent, member, lifetimeMs: () => own.lifetimeMs() }),
    applySoon: () => work.request(),
    log,
    ...time,
  })
  return {
    own: { name: 'endpoint', everyMs: () => OWN_EVERY_MS, work: () => own.look() },
    ofPeers: { name: 'endpoints of peers', everyMs: () => watch.pauseMs(), work: () => watch.look() },
  }
}
