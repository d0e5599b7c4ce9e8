import type { Logger } from 'pino'
import { createLastUses } from '../../http/auth/last-uses.ts'
import type { Slice } from '../../http/slice.ts'
import { createSessionResolver, type SessionResolverDeps } from './session-resolver.ts'
import type { IdSource } from '../../ports/clock.ts'
import { createSessionSweeper } from './session-sweeper.ts'
import { writeUses } from './store.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface SessionsPorts extends Omit<SessionResolverDeps, 'lastUses'> {
  readonly ids: IdSource
  readonly log: Logger
}

/** Browser sessions. Their operations belong to the surface of signing in, and are part of that slice. */
export function createSlice({ log, ids, ...ports }: SessionsPorts): Slice {
  const { datastore, clock } = ports
  const lastUses = createLastUses({
    write: (uses) => writeUses(datastore.pool('worker'), uses),
    onFailure: (error) => log.warn({ err: error }, 'the last use of sessions could not be written'),
  })
  return {
    handlers: {},
    resolvers: [createSessionResolver({ ...ports, lastUses })],
    jobs: [createSessionSweeper({ clock, ids })],
    flush: () => lastUses.flush(),
  }
}
