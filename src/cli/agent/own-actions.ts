import type { BridgeChange, MemberActions } from '../../client/agent/agent-deps.ts'
import type { PulledExecution } from '../../client/agent/state/snapshot.ts'
import { formatEdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import { digestEpochs } from '../../shared/mesh/epoch-digest.ts'
import { forgetEnded } from './executions/executions-once.ts'
import type { RealMember } from './real-member.ts'
import { PEERS_MAX } from './server-answers/accept-peers.ts'

/** What this machine does with what the agent learns. */
export interface ActionPorts {
  /** Peers, keys, policies or names changed. */
  readonly meshChanged: () => void
  readonly selfChanged: () => void
  /** Sessions came or went. */
  readonly sessionsChanged: () => void
  readonly ownKeyChanged: () => Promise<void>
  readonly applyBridge: (change: BridgeChange) => Promise<string | undefined>
  readonly bridgesPulled: (resourceIds: ReadonlySet<string>) => void
  readonly execute: (execution: PulledExecution) => void
  readonly save: () => Promise<void>
  readonly saveSoon: () => void
  readonly refused: (code: string) => void
}

/** The actions of the agent of this machine. */
export function ownActions(ports: ActionPorts): MemberActions<RealMember> {
  return {
    edgesOf: ({ view }) => (view?.list() ?? []).slice(0, PEERS_MAX).map(({ node_id: nodeId }) => nodeId),
    takeEdgeKey({ keys }, { peerId, epoch, key }) {
      keys.set(peerId, { epoch, key })
      ports.saveSoon()
      ports.meshChanged()
    },
    digestOf({ view, keys }) {
      if (view === undefined) return undefined
      const inForce = [...keys].filter(([peerId]) => view.find(peerId) !== undefined)
      return digestEpochs(new Map(inForce.map(([peerId, { epoch }]) => [peerId, formatEdgeEpoch(epoch)])))
    },
    execute: (_, execution) => ports.execute(execution),
    // Sessions are admitted by what listens for them, from `liveSessions`.
    openSession: () => undefined,
    sessionsChanged: () => ports.sessionsChanged(),
    executionsGone: (member, liveIds) => forgetEnded(member, liveIds),
    applyBridge: (_, change) => ports.applyBridge(change),
    bridgesPulled: (_, resourceIds) => ports.bridgesPulled(resourceIds),
    peersChanged(member) {
      forgetKeys(member)
      ports.meshChanged()
    },
    policiesChanged: () => ports.meshChanged(),
    selfChanged: () => ports.selfChanged(),
    save: () => ports.save(),
    ownKeyChanged: () => ports.ownKeyChanged(),
    refused: (_, code) => ports.refused(code),
  }
}

/** Forgets the keys of peers that are gone: one that comes back gets a new key. */
function forgetKeys({ keys, view }: RealMember): void {
  for (const peerId of keys.keys()) if (view?.find(peerId) === undefined) keys.delete(peerId)
}
