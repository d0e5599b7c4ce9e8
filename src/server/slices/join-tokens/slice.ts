import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createJoinTokenResolver } from './join-token-resolver.ts'
import { createJoinTokenSweeper } from './join-token-sweeper.ts'
import { createJoinTokens, type JoinTokensDeps } from './service.ts'

export { contents } from './contents.ts'

/** Join tokens: what nodes enrol with. */
export function createSlice({ clock, ...deps }: JoinTokensDeps & { readonly clock: Clock }): Slice<'joinTokens'> {
  const { datastore, keyring } = deps
  return {
    handlers: { joinTokens: createJoinTokens(deps) },
    resolvers: [createJoinTokenResolver({ datastore, keyring, clock })],
    jobs: [createJoinTokenSweeper({ clock })],
  }
}
