import { takesPart, type SimulatedDeps } from '../agent/agent-deps.ts'
import { pullSoon } from '../../../client/agent/state/state-pull.ts'
import { NO_FAULTS, type SimulatedNode, type InjectedFaults } from '../simulated-node.ts'
import { revoke } from './revocation.ts'
import type { Fault } from './scenario.ts'
import { randomNodes, randomShare, type Stage } from './stage.ts'

/** Ends a fault. */
export type EndFault = () => void

type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { readonly kind: Kind }>

/** Starts each kind of fault. The returned function ends it. */
const FAULTS: { readonly [Kind in Fault['kind']]: (stage: Stage, fault: FaultOf<Kind>) => EndFault } = {
  clock_skew: (stage, { share, skewMs }) => inject(randomShare(stage, share), (own) => ({ ...own, skewMs })),
  duplicate_calls: (stage, { share }) =>
    inject(randomShare(stage, share), (own) => ({ ...own, repeats: 'doubled' as const })),
  reordered_calls: (stage, { share }) =>
    inject(randomShare(stage, share), (own) => ({ ...own, repeats: 'reordered' as const })),
  bridge_failures: (stage, { share }) => inject(randomShare(stage, share), (own) => ({ ...own, failsBridges: true })),
  host_restarts(stage, { share }) {
    for (const node of randomShare(stage, share)) restart(stage.deps, node)
    return noEnd
  },
  reconnect_herd(stage, { share }) {
    for (const { stream } of randomShare(stage, share)) stream?.cut()
    return noEnd
  },
  revoked_nsk(stage, { nodes }) {
    for (const node of randomNodes(stage, nodes)) stage.deps.tasks.track(revoke(stage.deps, node))
    return noEnd
  },
  slow_reader(stage, { share, delayMs }) {
    const slow = randomShare(stage, share)
    for (const { stream } of slow) stream?.slowDown(delayMs)
    return () => slow.forEach(({ stream }) => stream?.slowDown(0))
  },
  server_restart({ phaseState }) {
    phaseState.outages += 1
    return () => {
      phaseState.outages -= 1
    }
  },
  endpoint_storm({ phaseState }, { rate }) {
    phaseState.rates = { ...phaseState.rates, endpoint_changes: rate }
    return noEnd
  },
}

/** Forgets what the node's bridges run, as a process that starts again; it pulls its state and applies it from the start. */
function restart(deps: SimulatedDeps, node: SimulatedNode): void {
  node.stream?.cut()
  node.bridges = undefined
  node.hosted.clear()
  node.etag = undefined
  if (takesPart(deps)) pullSoon(deps, node, 0)
}

const noEnd: EndFault = () => undefined

/** Starts a fault of a phase. Rates that it sets end with the phase. */
export function startFault(stage: Stage, fault: Fault): EndFault {
  // The table entry has the kind of the fault.
  const start = FAULTS[fault.kind] as (stage: Stage, fault: Fault) => EndFault
  return start(stage, fault)
}

function inject(nodes: readonly SimulatedNode[], change: (own: InjectedFaults) => InjectedFaults): EndFault {
  for (const node of nodes) node.faults = change(node.faults)
  return () => nodes.forEach((node) => (node.faults = NO_FAULTS))
}
