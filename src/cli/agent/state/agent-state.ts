import type { MeshKey } from '../../../client/agent/keys/mesh-key.ts'

/** How the agent names the nodes of the mesh on this machine. */
export const NAME_WAYS = ['auto', 'hosts', 'none'] as const
export type NameWay = (typeof NAME_WAYS)[number]

/** How the agent sets this machine up. */
export interface MachineSettings {
  readonly interface_name: string
  readonly listen_port: number
  readonly mtu: number
  readonly is_userspace: boolean
  readonly names: NameWay
  /** Networks that mediated sessions may reach beside 127.0.0.1, as CIDRs. */
  readonly session_targets?: readonly string[] | undefined
  /** Where ingress of bridges listens, `address:port`; absent: TCP 443 of all addresses. */
  readonly ingress_listen?: string | undefined
}

/** The server and how it is trusted. */
export interface ServerSettings {
  /** Base URL. */
  readonly url: string
  /** Certificate authority beside those of the system, PEM. */
  readonly ca?: string | undefined
  /** The only certificate authority to trust, PEM: the one with the digest of `--ca-sha256`. */
  readonly pinned_ca?: string | undefined
}

/** An execution that must not be carried out twice, nor be forgotten. */
export interface TakenExecution {
  /** `taken`: acknowledged; `begun`: its start was reported, or was about to be; `ended`: its end was reported, or was about to be. */
  readonly stage: 'taken' | 'begun' | 'ended'
  readonly expires_at: string
}

/** An upgrade that has begun. It ends as `is_confirmed`, or with a `failure`. */
export interface TakenUpgrade {
  readonly execution_id: string
  readonly version: string
  /** SHA-256 of the file of the release, 64 hex digits. */
  readonly checksum: string
  /** SHA-256 of the file before it, of which a copy is kept. */
  readonly former_checksum: string
  /** What the upgrade program printed. */
  readonly output: string
  /** The new agent has reported to the server. */
  readonly is_confirmed?: boolean
  /** The new agent has ended on purpose: it was stopped, or is started again. */
  readonly is_ended?: boolean
  /** Why the former file is back. */
  readonly failure?: string
}

/** Who the node is, with its secrets: what a restart needs. */
export interface Enrolment {
  readonly node_id: string
  readonly domain_id: string
  readonly name: string
  readonly mesh_address: string
  /** Absent where the server did not say it. */
  readonly mesh_cidr?: string | undefined
  readonly nsk: string
  /** A key that replaces `nsk` with its first use. */
  readonly next_nsk?: string | undefined
  /** Since when the agent has `nsk`; absent where it has not been written down yet. */
  readonly nsk_since?: string | undefined
  /** Curve25519, PKCS #8 DER in base64. */
  readonly private_key: string
  /** The pair of a rotation that is not known to have ended. */
  readonly next_key?: MeshKey | undefined
  /** A try of `next_key` has no known end. */
  readonly is_next_in_doubt?: boolean | undefined
  readonly psk_issued_at: string
  readonly heartbeat_interval_seconds: number
  /** The epoch in force of each edge, `<own>|<peer>`, by peer id. */
  readonly epochs: Readonly<Record<string, string>>
  readonly last_event_id?: string | undefined
  readonly last_node_seq?: number | undefined
  /** When the newest event occurred. */
  readonly last_occurred_at?: string | undefined
  readonly executions: Readonly<Record<string, TakenExecution>>
  /** The last upgrade, until the server knows how it ended. */
  readonly upgrade?: TakenUpgrade | undefined
  /** Why the server refused the node's key for good, and when. */
  readonly refused?: { readonly code: string; readonly at: string } | undefined
}

/** The content of the state file. */
export interface AgentState {
  readonly format: 1
  readonly server: ServerSettings
  readonly machine: MachineSettings
  /** Absent while a registration has no known end. */
  readonly enrolment?: Enrolment | undefined
  /** The pair of a registration, written down before the call. */
  readonly enrolling?: { readonly name: string; readonly key: MeshKey; readonly at: string } | undefined
}
