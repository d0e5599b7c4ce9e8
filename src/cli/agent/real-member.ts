import type { HeldStream, StreamProgress } from '../../client/agent/events/held-stream.ts'
import { newMember, type Member } from '../../client/agent/member.ts'
import { formatEdgeEpoch, parseEdgeEpoch, type EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import type { Enrolment, TakenExecution, TakenUpgrade } from './state/agent-state.ts'
import type { HeldKey } from './tunnel/plan-tunnel.ts'

/** The node of this machine. */
export interface RealMember extends Member {
  /** The edge keys that were fetched since the start, by peer id. */
  readonly keys: Map<string, HeldKey>
  /** Executions that are not over, by id. */
  readonly executions: Map<string, TakenExecution>
  /** The last upgrade, until the server knows how it ended. */
  upgrade: TakenUpgrade | undefined
  /** End the hooks that run now, by the id of their execution. */
  readonly cancels: Map<string, AbortController>
  /** Undefined before the stream is opened. */
  stream: HeldStream | undefined
}

/** The member as the state file has it. */
export function realMember(stored: Enrolment): RealMember {
  const { node_id, name, nsk, next_nsk, private_key, psk_issued_at } = stored
  const edges = Object.entries(stored.epochs).flatMap(([peerId, text]): readonly [string, EdgeEpoch][] => {
    const epoch = parseEdgeEpoch(text)
    return epoch === undefined ? [] : [[peerId, epoch]]
  })
  return {
    ...newMember({
      edges: new Map(edges),
      nextKey: stored.next_key,
      isNextInDoubt: stored.is_next_in_doubt ?? false,
    }),
    identity: {
      node_id,
      name,
      nsk,
      ...(next_nsk !== undefined && { next_nsk }),
      private_key,
      psk_issued_at,
      ...positionOf(stored),
    },
    keys: new Map(),
    executions: new Map(Object.entries(stored.executions)),
    upgrade: stored.upgrade,
    cancels: new Map(),
    stream: undefined,
  }
}

/** What a restart needs of the member. Executions that have expired are left out. */
export function enrolmentOf(member: RealMember, before: Enrolment, nowMs: number): Enrolment {
  const { identity, self, nextKey, isNextInDoubt, edges, executions, upgrade, stream } = member
  const live = [...executions].filter(([, { expires_at: expiresAt }]) => Date.parse(expiresAt) > nowMs)
  return {
    node_id: before.node_id,
    domain_id: before.domain_id,
    name: self?.name ?? before.name,
    mesh_address: before.mesh_address,
    mesh_cidr: self?.mesh_cidr ?? before.mesh_cidr,
    nsk: identity.nsk,
    next_nsk: identity.next_nsk,
    nsk_since: secretKeySince(identity.nsk, before) ?? new Date(nowMs).toISOString(),
    private_key: identity.private_key,
    next_key: nextKey,
    is_next_in_doubt: isNextInDoubt,
    psk_issued_at: identity.psk_issued_at ?? before.psk_issued_at,
    heartbeat_interval_seconds: before.heartbeat_interval_seconds,
    epochs: Object.fromEntries([...(edges ?? [])].map(([peerId, epoch]) => [peerId, formatEdgeEpoch(epoch)])),
    ...(stream?.progress() ?? positionOf(before)),
    executions: Object.fromEntries(live),
    upgrade,
    refused: before.refused,
  }
}

/** Undefined for a key that was not written down before. */
function secretKeySince(nsk: string, before: Enrolment): string | undefined {
  return nsk === before.nsk ? before.nsk_since : undefined
}

/** The members that are there: an absent one is not the same as an undefined one to the protocol. */
function positionOf({ last_event_id, last_node_seq, last_occurred_at }: Enrolment): Partial<StreamProgress> {
  return {
    ...(last_event_id !== undefined && { last_event_id }),
    ...(last_node_seq !== undefined && { last_node_seq }),
    ...(last_occurred_at !== undefined && { last_occurred_at }),
  }
}
