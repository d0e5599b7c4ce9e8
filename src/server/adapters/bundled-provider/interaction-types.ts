import type { IncomingMessage } from 'node:http'
import type { Provider } from 'oidc-provider'
import type { LocalAccount, LocalSignIn } from '../../ports/local-sign-in.ts'
import type { FormGuard } from './form-guard.ts'
import type { Passkeys } from './passkeys.ts'
import type { Progress, ProgressStore } from './progress.ts'

/** The dependencies of interactions. */
export interface InteractionDeps {
  readonly provider: Provider
  readonly signIn: LocalSignIn
  readonly passkeys: Passkeys | undefined
  readonly progress: ProgressStore
  readonly guard: FormGuard
  readonly clientAddress: (request: IncomingMessage) => string
}

/** An interaction at the start of a request. */
export interface Interaction {
  readonly uid: string
  readonly secondsLeft: number
  /** The `acr` values that the relying party requested; any of them is enough. */
  readonly wanted: readonly string[]
  readonly progress: Progress
  readonly account: LocalAccount | undefined
  readonly sourceAddress: string
}
