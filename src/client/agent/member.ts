import type { SessionSetupPayload } from '../../shared/events/wire-types.ts'
import type { EdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import type { OwnBridges } from './bridges/own-bridges.ts'
import type { Outcome } from './calls/outcome.ts'
import type { MeshKey } from './keys/mesh-key.ts'
import type { PeerView } from './peers/peer-view.ts'
import type { OwnPolicies } from './policies/own-policies.ts'

/** Who a node is, and the keys that it has. */
export interface MemberIdentity {
  readonly node_id: string
  readonly name: string
  /** The node secret key. */
  readonly nsk: string
  /** Replaces `nsk` with its first successful use; stored before that. Absent otherwise. */
  readonly next_nsk?: string
  /** Curve25519 private key, PKCS #8 DER in base64. */
  readonly private_key: string
  /** Its half of the epoch of each edge; absent if an earlier version stored the node. */
  readonly psk_issued_at?: string
  /** Position in its event stream; absent before the first event. */
  readonly last_event_id?: string
  readonly last_node_seq?: number
  /** When the newest of these events occurred, RFC 3339. */
  readonly last_occurred_at?: string
}

/** What the server knows of a node itself. */
export interface OwnFacts {
  readonly name: string
  readonly mesh_address: string
  readonly mesh_cidr: string
  /** UTC, nine fractional digits. */
  readonly psk_issued_at: string
}

/** A node of the mesh, as its agent knows it. */
export interface Member {
  /** Replaced when one of its keys changes. */
  identity: MemberIdentity
  /** Undefined before the first pull, and with a server that is too old to give it. */
  self: OwnFacts | undefined
  /** The peers that it knows; undefined before the first pull. */
  view: PeerView | undefined
  /** The policies that match it; undefined before the first pull. */
  policies: OwnPolicies | undefined
  /** The bridges that it hosts; undefined before the first pull or event. */
  bridges: OwnBridges | undefined
  /** What it runs for each bridge, by resource id, as it reports it. */
  readonly hosted: Map<string, HostedBridge>
  /** Bridges that are being applied, by resource id. `again`: another try was requested meanwhile. */
  readonly applying: Map<string, 'once' | 'again'>
  /** How often in succession a bridge could not be applied, by resource id. */
  readonly applyFailures: Map<string, number>
  /** Bridges whose secrets are to be fetched again. */
  readonly refetching: Set<string>
  /** `ETag` of the last applied pull. */
  etag: string | undefined
  readonly pulling: Pulling
  /** The current epoch of each edge whose key it has, by peer id. Undefined before the first. */
  edges: Map<string, EdgeEpoch> | undefined
  readonly edgeFetches: EdgeFetches
  isRotating: boolean
  /** The mesh key pair of a rotation whose end is unknown: it may have been sent. Stored before it is sent. */
  nextKey: MeshKey | undefined
  /** No rotation is pending, and that of the next pair may have succeeded: the next epoch of an edge decides. Stored. */
  isNextInDoubt: boolean
  /** A report of its epoch digest is scheduled. */
  isDigestDue: boolean
  /** The last reported digest. */
  lastDigest: string | undefined
  /** Reports that the server has refused for now, by name. The newest is sent when the wait is over. */
  readonly deferred: Map<string, () => Promise<Outcome<unknown>>>
  /** No report before that time, which the server asked for. */
  deferredUntilMs: number
  /** Ids of the latest executions and sessions that it has handled. */
  readonly seen: Set<string>
  /** Live mediated sessions by id: those of the last pull and of later events. */
  liveSessions: ReadonlyMap<string, SessionSetupPayload>
  /** Its secret keys were revoked, so refusals are expected. */
  isRevoked: boolean
  /** Its next secret key is being stored, and is not used before that. */
  isSavingKey: boolean
  /** The server has refused its secret key. */
  isKeyRefused: boolean
}

/** The parts of a member that its calls need. */
export type KeyedMember = Pick<Member, 'identity' | 'isRevoked' | 'isSavingKey' | 'isKeyRefused'>

/** The fetches of the keys of a node's edges. Calls follow one another. */
export interface EdgeFetches {
  /** Ids of the peers whose key is to be fetched by the next calls. */
  readonly wanted: Set<string>
  /** Number of fetches in succession that failed, by peer id. */
  readonly failures: Map<string, number>
  /** Time of the next scheduled call. */
  dueMs: number | undefined
  isRunning: boolean
}

export interface Pulling {
  /** `due`: scheduled; `running`: the request is open; `again`: the request is open and another pull is wanted. */
  state: 'idle' | 'due' | 'running' | 'again'
  /** Peers that events changed during the pull. Whether the event or the answer is newer is unknown. */
  readonly changedPeers: Set<string>
  /** Those of them that events removed. */
  readonly removedPeers: Set<string>
  /** Policies that events changed during the pull, likewise. */
  readonly changedPolicies: Set<string>
  /** Bridges that events changed during the pull, likewise. */
  readonly changedBridges: Set<string>
  /** Executions that events brought during the pull. */
  readonly newExecutions: Set<string>
  /** Sessions that events brought during the pull. */
  readonly newSessions: Set<string>
  /** Number of pulls in succession without an answer. */
  failures: number
}

/** A secret that a host has fetched and opened. */
export interface HeldSecret {
  readonly version: number
  readonly value: Uint8Array
}

/** By reference. */
export type HeldSecrets = ReadonlyMap<string, HeldSecret>

/** What a host runs for a bridge. */
export interface HostedBridge {
  /** Of the applied configuration; null before the first. */
  readonly fingerprint: string | null
  /** The fetched secrets, by reference. */
  readonly secrets: HeldSecrets
  readonly appliedAt: string | null
  /** Public keys of its user-access providers, by slug, in base64. */
  readonly publicKeys: Readonly<Record<string, string>>
  /** Why it does not run the newest configuration with all of its secrets. */
  readonly error: string | undefined
  /** Whether the server has the report of it. */
  readonly isReported: boolean
}

const NO_SESSIONS: Member['liveSessions'] = new Map()

/** What an agent has stored of its node, besides its identity. */
export type StoredMember = Partial<Pick<Member, 'edges' | 'nextKey' | 'isNextInDoubt' | 'self'>>

/** What a node knows that has done nothing yet, or has done nothing since its agent started again. */
export function newMember(stored: StoredMember = {}): Omit<Member, 'identity'> {
  return {
    self: stored.self,
    view: undefined,
    policies: undefined,
    bridges: undefined,
    hosted: new Map(),
    applying: new Map(),
    applyFailures: new Map(),
    refetching: new Set(),
    etag: undefined,
    pulling: newPulling(),
    edges: stored.edges,
    edgeFetches: { wanted: new Set(), failures: new Map(), dueMs: undefined, isRunning: false },
    isRotating: false,
    nextKey: stored.nextKey,
    isNextInDoubt: stored.isNextInDoubt ?? false,
    isDigestDue: false,
    lastDigest: undefined,
    deferred: new Map(),
    deferredUntilMs: 0,
    seen: new Set(),
    liveSessions: NO_SESSIONS,
    isRevoked: false,
    isSavingKey: false,
    isKeyRefused: false,
  }
}

function newPulling(): Pulling {
  return {
    state: 'idle',
    changedPeers: new Set(),
    removedPeers: new Set(),
    changedPolicies: new Set(),
    changedBridges: new Set(),
    newExecutions: new Set(),
    newSessions: new Set(),
    failures: 0,
  }
}
