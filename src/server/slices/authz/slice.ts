import type { Slice } from '../../http/slice.ts'
import type { EditsDeps } from './edits.ts'
import { createAuthz, type AuthzDeps } from './service.ts'

export type AuthzPorts = Omit<AuthzDeps, 'writing'> & EditsDeps

/** Checks, lookups, explanations and previews of the authorization model. */
export function createSlice({ datastore, subjects, admission, ...asked }: AuthzPorts): Slice<'authz'> {
  return { handlers: { authz: createAuthz({ ...asked, writing: { datastore, subjects, admission } }) } }
}
