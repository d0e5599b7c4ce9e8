import type { LastUses } from '../../http/auth/last-uses.ts'
import type { Slice } from '../../http/slice.ts'
import { createIdentities, type IdentitiesDeps } from './service.ts'

export { contents } from './contents.ts'
export { tupleConsumer } from './event-tuples.ts'
export { events } from './events.ts'

export interface IdentitiesPorts extends IdentitiesDeps {
  /** When service identities last authenticated. */
  readonly serviceSignIns: LastUses
}

/** Users and service identities of a Domain. */
export function createSlice({ serviceSignIns, ...deps }: IdentitiesPorts): Slice<'identities'> {
  return {
    handlers: { identities: createIdentities(deps) },
    flush: () => serviceSignIns.flush(),
  }
}
