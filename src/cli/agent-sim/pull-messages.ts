import type { ProblemDocument, TransportFault } from '../../client/failures.ts'
import type { PullCall } from './node-wire.ts'
import type { PeerFacts } from './peer-book.ts'
import type { PulledState } from './state-pulls.ts'

/** What the thread that pulls is started with. */
export interface PullThreadOptions {
  readonly url: string
  /** Certificates to trust beside the system's own, PEM. */
  readonly ca: string | undefined
  readonly timeoutMs: number
  readonly connections: number
  readonly userAgent: string
}

export interface PullQuestion {
  readonly id: number
  readonly call: PullCall
}

/** `news`: facts that got a number since the answer before, in the order of their numbers. */
export type PullAnswer = { readonly id: number; readonly news: readonly PeerFacts[] } & PullResult

export type PullResult =
  | { readonly kind: 'pulled'; readonly pulled: PulledState | undefined }
  | { readonly kind: 'refused'; readonly document: ProblemDocument; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: 'unanswered'; readonly fault: TransportFault; readonly message: string }
  /** Anything else is a bug. */
  | { readonly kind: 'failed'; readonly message: string }
