import type { signIn } from '../../../shared/contract/sign-in.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createSignIn, type SignInDeps } from './service.ts'
import { createSignInSweeper } from './sign-in-sweeper.ts'
import { createSignOutPage, type SignOutPageDeps } from './sign-out-page.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export type SignInPorts = SignInDeps &
  SignOutPageDeps & {
    readonly clock: Clock
    /** The operations of the surface that act on sessions which exist. */
    readonly sessionOperations: Omit<Handlers<typeof signIn>, keyof ReturnType<typeof createSignIn>>
  }

/** Signing in and out with a browser. */
export function createSlice({ clock, sessionOperations, ...deps }: SignInPorts): Slice<'signIn'> {
  return {
    handlers: { signIn: { ...sessionOperations, ...createSignIn(deps) } },
    pages: [createSignOutPage(deps)],
    jobs: [createSignInSweeper({ clock })],
  }
}
