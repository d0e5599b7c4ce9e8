import type { contract } from '../../shared/contract/index.ts'
import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import type { EpochReport } from '../../shared/mesh/epoch-digest.ts'
import type { SessionSetupPayload } from '../../shared/events/wire-types.ts'
import type { Client } from '../client.ts'
import type { AgentClock } from './agent-clock.ts'
import type { BridgeBook } from './bridges/bridge-book.ts'
import type { ReadBridge } from './bridges/own-bridges.ts'
import type { NodeWire } from './calls/node-wire.ts'
import type { AgentOperation } from './calls/operations.ts'
import type { PacedLimiter } from './calls/paced-limiter.ts'
import type { AgentCount } from './counts.ts'
import type { KeyedMember, Member } from './member.ts'
import type { PeerBook } from './peers/peer-book.ts'
import type { PolicyBook } from './policies/policy-book.ts'
import type { PulledExecution } from './state/snapshot.ts'
import type { PullState } from './state/state-pulls.ts'
import type { TaskTracker } from './tasks/task-tracker.ts'
import type { TimerWheel } from './tasks/timer-wheel.ts'

export type ApiClient = Client<typeof contract>

/** Counts outcomes and records latencies per operation. */
export interface AgentStatistics {
  succeeded(operation: AgentOperation, durationMs: number): void
  /**
   * `code`: the problem code, or the transport fault if there was no answer. `dimension`: of which the Domain has too much, where the
   * refusal names it.
   */
  failed(operation: AgentOperation, code: string, dimension?: string): void
  /**
   * Counts a failure that a scenario expects, which is not an error: a refusal due to a fault, or one during an
   * outage.
   */
  expected(operation: AgentOperation, code: string, as: 'expected_refusals' | 'outage_errors'): void
  /** Adds to a counter; `by` is 1 by default. */
  count(name: AgentCount, by?: number): void
}

/** What every call of an agent needs. */
export interface AgentDeps {
  readonly client: ApiClient
  readonly statistics: AgentStatistics
  readonly clock: AgentClock
  readonly wheel: TimerWheel
  readonly tasks: TaskTracker
  /** Agents start nothing after it is aborted. */
  readonly until: AbortSignal
  /** Operations that the server does not provide; they are not called again. */
  readonly notProvisioned: Set<AgentOperation>
  /** Whether a scenario expects an outage now. */
  readonly isOutage: () => boolean
  /** Those of the members that make the calls. */
  readonly actions: KeyActions
}

/** What an agent does about its node secret key. */
export interface KeyActions {
  /** As of `MemberActions`. */
  save(member: KeyedMember): Promise<void>
  /** As of `MemberActions`. */
  refused(member: KeyedMember, code: string): void
}

/** A key of an edge, opened, with its epoch. */
export interface OpenedEdgeKey {
  readonly peerId: string
  readonly epoch: EdgeEpoch
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** What a host is to run for a bridge. */
export interface BridgeChange {
  readonly resourceId: string
  /** Undefined: the node does not host the bridge any more. */
  readonly bridge: ReadBridge | undefined
  /** By reference. One that could not be fetched is not there. */
  readonly secrets: ReadonlyMap<string, Uint8Array>
}

/** What an agent does with what it learns. A real one changes its machine; a simulated one compares and counts. */
export interface MemberActions<M extends Member> {
  /** Peers whose edge keys the agent needs. */
  edgesOf(member: M): readonly string[]
  /** `member.edges` has the epoch already. The digest is reported soon. */
  takeEdgeKey(member: M, opened: OpenedEdgeKey): void
  /** The digest of the epochs that are in force; undefined before the first pull. */
  digestOf(member: M): EpochReport | undefined
  /** Called with each execution of a pull or an event, any number of times. */
  execute(member: M, execution: PulledExecution): void
  /** Called with each live session of a pull or an event, any number of times. */
  openSession(member: M, session: SessionSetupPayload): void
  /** Called after each pull with the ids of the executions that have not ended. The agent stops any other one. */
  executionsGone(member: M, liveIds: ReadonlySet<string>): void
  /** `member.liveSessions` changed. The agent cuts any session that is not in it. */
  sessionsChanged(member: M): void
  /**
   * Applies a configuration of a bridge with its secrets. Resolves with undefined, or with why it is not applied: a sentence without
   * a secret. What ran before goes on then. Called again after a pause, and when a secret has a new version.
   */
  applyBridge(member: M, change: BridgeChange): Promise<string | undefined>
  /** Called after each pull that is the server's newest with the ids of all bridges that the member hosts. The agent stops any other one. */
  bridgesPulled(member: M, resourceIds: ReadonlySet<string>): void
  /** Peers were added, changed or removed: after a pull and after each hint. `member.view` has them all. */
  peersChanged(member: M): void
  /** The policies in force changed. */
  policiesChanged(member: M): void
  /** What the server knows of the node itself changed (`member.self`). */
  selfChanged(member: M): void
  /** Makes identity, next mesh key and epochs durable. Resolves once they are, and tries until then: it does not reject. */
  save(member: M): Promise<void>
  /** The node's own mesh key pair was replaced and saved; the device takes it. */
  ownKeyChanged(member: M): Promise<void>
  /** The node secret key was refused for good: `nsk_revoked` or `unauthorized`. Called once. */
  refused(member: M, code: string): void
}

/** The calls of mesh agents that the typed client does not offer. */
export type MeshCalls = Pick<NodeWire, 'fetchEdgeKey' | 'fetchEdgeKeys' | 'fetchSecret'>

/** What agents of one process share. */
export interface MeshParts {
  readonly wire: MeshCalls
  readonly pull: PullState
  readonly book: PeerBook
  readonly policies: PolicyBook
  readonly bridges: BridgeBook
  /** Limits for all of them, so that ten thousand agents do not make the same call at once. */
  readonly limiters: Readonly<Record<'pulls' | 'edgeKeys' | 'digests' | 'secrets', PacedLimiter>>
}

/** The dependencies of an agent that takes part in the mesh. */
export interface MemberDeps<M extends Member> extends AgentDeps {
  readonly mesh: MeshParts
  readonly actions: MemberActions<M>
}
