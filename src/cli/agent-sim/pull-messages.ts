import type { ProblemDocument, TransportFault } from '../../client/failures.ts'
import type { Trust } from '../../client/transport.ts'
import type { PullCall } from '../../client/agent/calls/node-wire.ts'
import type { PeerFacts } from '../../client/agent/peers/peer-book.ts'
import type { PulledState } from '../../client/agent/state/state-pulls.ts'

/** Options of the pull thread. */
export interface PullThreadOptions {
  readonly url: string
  readonly trust: Trust
  readonly timeoutMs: number
  readonly connections: number
  readonly userAgent: string
}

export interface PullRequest {
  readonly id: number
  readonly call: PullCall
}

/** What changed in the book of the thread since its last answer. */
export interface BookChanges {
  /** By the numbers of the thread's book, in their order. */
  readonly newFacts: readonly (readonly [number: number, facts: PeerFacts])[]
  /** Numbers of facts that it has freed. Some may be new since the last answer as well. */
  readonly freed: readonly number[]
}

export type PullAnswer = { readonly id: number; readonly changes: BookChanges } & PullResult

export type PullResult =
  | { readonly kind: 'pulled'; readonly pulled: PulledState | undefined }
  | { readonly kind: 'refused'; readonly document: ProblemDocument; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: 'unanswered'; readonly fault: TransportFault; readonly message: string }
  /** An unexpected error: a bug. */
  | { readonly kind: 'failed'; readonly message: string }
