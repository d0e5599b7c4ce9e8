import type { MemberActions } from '../../../client/agent/agent-deps.ts'
import { runExecution } from '../../../client/agent/executions/execution.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import { takesPart, type MeshAgentDeps, type SimulatedDeps } from './agent-deps.ts'
import { simulatedPerformer } from './perform.ts'
import { openSession } from './session.ts'

/** What simulated agents do with what they learn: they compare, count and answer. */
export function simulatedActions(depsNow: () => SimulatedDeps): MemberActions<SimulatedNode> {
  function deps(): MeshAgentDeps {
    const now = depsNow()
    if (!takesPart(now)) throw new Error('a fleet without a mesh has no actions')
    return now
  }

  return {
    edgesOf: ({ place }) => deps().mesh.neighbours(place),
    takeEdgeKey(node, held) {
      const { mesh, statistics } = deps()
      const comparison = mesh.ledger.put({ nodeId: node.identity.node_id, ...held })
      if (comparison !== 'first') statistics.count('edges_compared')
      if (comparison === 'differs') statistics.count('edge_mismatches')
    },
    digestOf: ({ view, identity: { psk_issued_at: own } }) =>
      view === undefined || own === undefined ? undefined : deps().mesh.digest(view, own),
    execute: (node, execution) => runExecution(deps(), node, { execution, performer: simulatedPerformer(deps()) }),
    openSession: (node, session) => openSession(deps(), node, session),
    executionsGone: ignore,
    sessionsChanged: ignore,
    peersChanged: ignore,
    policiesChanged: ignore,
    selfChanged: ignore,
    // The state directory is written when the run ends.
    save: async () => undefined,
    ownKeyChanged: async () => undefined,
    refused: ignore,
    applyBridge: async ({ faults }, { bridge }) =>
      bridge !== undefined && faults.failsBridges ? BRIDGE_FAULT : undefined,
    bridgesPulled: ignore,
  }
}

const ignore = (): void => undefined

const BRIDGE_FAULT = 'the configuration could not be applied: a fault of the scenario'
