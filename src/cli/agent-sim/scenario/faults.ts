import { NO_FAULTS, type SimulatedNode, type InjectedFaults } from '../simulated-node.ts'
import { revoke } from './revocation.ts'
import type { Fault } from './scenario.ts'
import { drawn, drawnShare, type Stage } from './stage.ts'

/** Ends a fault. */
export type EndFault = () => void

type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { readonly kind: Kind }>

/** How each fault begins; what it answers ends it. */
const FAULTS: { readonly [Kind in Fault['kind']]: (stage: Stage, fault: FaultOf<Kind>) => EndFault } = {
  clock_skew: (stage, { share, skewMs }) => inject(drawnShare(stage, share), (own) => ({ ...own, skewMs })),
  duplicate_calls: (stage, { share }) =>
    inject(drawnShare(stage, share), (own) => ({ ...own, repeats: 'doubled' as const })),
  reordered_calls: (stage, { share }) =>
    inject(drawnShare(stage, share), (own) => ({ ...own, repeats: 'reordered' as const })),
  reconnect_herd(stage, { share }) {
    for (const { stream } of drawnShare(stage, share)) stream?.cut()
    return nothing
  },
  revoked_nsk(stage, { nodes }) {
    for (const node of drawn(stage, nodes)) stage.deps.errands.begin(revoke(stage.deps, node))
    return nothing
  },
  slow_reader(stage, { share, delayMs }) {
    const slow = drawnShare(stage, share)
    for (const { stream } of slow) stream?.slowDown(delayMs)
    return () => slow.forEach(({ stream }) => stream?.slowDown(0))
  },
  server_restart({ standing }) {
    standing.outages += 1
    return () => {
      standing.outages -= 1
    }
  },
  endpoint_storm({ standing }, { rate }) {
    standing.rates = { ...standing.rates, endpoint_changes: rate }
    return nothing
  },
}

const nothing: EndFault = () => undefined

/** Begins a fault of a phase. What it sets of rates ends with the phase. */
export function beginFault(stage: Stage, fault: Fault): EndFault {
  // The row of the table is the one of the fault's own kind.
  const begin = FAULTS[fault.kind] as (stage: Stage, fault: Fault) => EndFault
  return begin(stage, fault)
}

function inject(nodes: readonly SimulatedNode[], change: (own: InjectedFaults) => InjectedFaults): EndFault {
  for (const node of nodes) node.faults = change(node.faults)
  return () => nodes.forEach((node) => (node.faults = NO_FAULTS))
}
