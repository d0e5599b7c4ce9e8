import type { CredentialKind } from '../../shared/contract/operation.ts'
import type { PlainProblemCode } from '../../shared/problems.ts'

/** Who calls, once a credential has resolved. */
export interface Caller {
  /** `user:<uuid>`, `serviceaccount:<uuid>`, `node:<uuid>` or `jointoken:<uuid>`. */
  readonly subject: string
  readonly kind: 'user' | 'service-identity' | 'node' | 'join-token'
  readonly id: string
  readonly domainId: string
  readonly displayName: string
  readonly credential: {
    readonly kind: CredentialKind
    readonly id: string
    /** `*` or `<surface>:read|write`; only API tokens are narrower than `*`. */
    readonly scopes: readonly string[]
    readonly expiresAtMs: number | undefined
    /** Of an API token: whether its owner made it for itself. */
    readonly isSelfIssued?: boolean
    /** Key id of a node's secret key. */
    readonly kid?: string
  }
  /** Since when, in ms, the credential could not be confirmed, where it was resolved from memory during an outage. */
  readonly staleSinceMs?: number
  /** The approval under which the server makes the call for its requester (decisions: Held operations). */
  readonly approvalId?: string
  /** How the person signed in: of a session, of an access token, and of an API token that the device flow made. */
  readonly acr?: string
  readonly authTimeMs?: number
  /** Whether the provider did not state when the person signed in, so that the time of its token counts. */
  readonly isAuthTimeAssumed?: boolean
}

/** Why a presented credential does not resolve. `code` goes out only where the operation declares it; `log` names the cause for the log. */
export interface Refusal {
  readonly refused: true
  readonly code?: PlainProblemCode
  readonly log: string
}

/** Resolves one kind of credential. */
export interface CredentialResolver {
  readonly kind: CredentialKind
  /** The cookie that carries it; without, it is presented as `Authorization: Bearer`. */
  readonly cookie?: string
  /** Whether the presented text has this credential's form. */
  recognizes(presented: string): boolean
  /**
   * What is known of the credential without a look-up, so that hot paths do not await; undefined where one is needed.
   * Without this member every use is a look-up.
   */
  recall?(presented: string): Caller | Refusal | undefined
  /** Looks the credential up. @throws Problem `datastore_unavailable` when it can be neither resolved nor refused. */
  resolve(presented: string): Caller | Refusal | Promise<Caller | Refusal>
  /**
   * Whose the credential was when it was confirmed last, or that it was refused then, if that is no longer ago than so many
   * ms; for operations that bridge outages.
   */
  resolveStale?(presented: string, withinMs: number): Caller | Refusal | undefined
}
