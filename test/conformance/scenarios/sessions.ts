import type { signIn } from '../../../src/shared/contract/sign-in.ts'
import type { Scenarios } from '../scenario.ts'
import { exchange, signed } from '../wire.ts'
import type { World } from '../world.ts'

type SessionOperation = 'DeleteAuthSession' | 'PostAuthSignOutGlobal' | 'GetAuthSessions' | 'DeleteAuthSessionByID'

/** Scenarios of the operations on sessions that have begun. */
export const sessionScenarios: Pick<Scenarios<World, typeof signIn>, SessionOperation> = {
  DeleteAuthSession: () => ({ input: {} }),
  async PostAuthSignOutGlobal({ signedIn }) {
    return { input: {}, as: await signedIn() }
  },
  async GetAuthSessions({ signedIn, nobody }) {
    return { input: {}, as: await signedIn(), also: [{ as: nobody }] }
  },
  async DeleteAuthSessionByID({ url, signedIn }) {
    const as = await signedIn()
    const answer = await exchange(url, signed({ method: 'GET', path: '/v1/auth/sessions' }, as))
    const [own] = answer.json as unknown as readonly { readonly id: string }[]
    return { input: { id: own?.id ?? '' }, as }
  },
}
