import type { Caller } from './credential-resolver.ts'
import type { SentCall } from './held-calls.ts'

/** How a call that the server made to itself was answered. */
export interface LoopbackAnswer {
  readonly status: number
  /** The code of the problem; undefined for a success. */
  readonly code: string | undefined
}

/** Makes calls of the server's own API for somebody, through every check of the edge. */
export interface Loopback {
  /** @throws Error before the server serves requests. */
  call(caller: Caller, sent: SentCall): Promise<LoopbackAnswer>
}
