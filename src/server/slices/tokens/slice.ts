import type { Logger } from 'pino'
import { createLastUses } from '../../http/auth/last-uses.ts'
import type { Slice } from '../../http/slice.ts'
import { createAdminTokens, type AdminTokensDeps } from './admin-service.ts'
import { createApiTokenResolver, type ApiTokenResolverDeps } from './api-token-resolver.ts'
import { createTokens } from './service.ts'
import { writeUses } from './store.ts'
import type { IdSource } from '../../ports/clock.ts'
import { createTokenSweeper } from './token-sweeper.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface TokensPorts extends AdminTokensDeps, Omit<ApiTokenResolverDeps, 'lastUses'> {
  readonly ids: IdSource
  readonly log: Logger
}

/** API tokens: the caller's own, and those of other identities. */
export function createSlice({
  log,
  datastore,
  subjects,
  mint,
  ids,
  heldCalls,
  ...ports
}: TokensPorts): Slice<'tokens' | 'adminTokens'> {
  const { clock } = ports
  const lastUses = createLastUses({
    write: (uses) => writeUses(datastore.pool('worker'), uses),
    onFailure: (error) => log.warn({ err: error }, 'the last use of tokens could not be written'),
  })
  return {
    handlers: {
      tokens: createTokens({ datastore, mint }),
      adminTokens: createAdminTokens({ datastore, subjects, mint, heldCalls }),
    },
    resolvers: [createApiTokenResolver({ ...ports, datastore, lastUses })],
    jobs: [createTokenSweeper({ clock, ids })],
    flush: () => lastUses.flush(),
  }
}
