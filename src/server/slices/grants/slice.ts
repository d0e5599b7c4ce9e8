import type { Slice } from '../../http/slice.ts'
import { createGrants, type GrantsDeps } from './service.ts'

export { events } from './events.ts'

/** Grants: roles on Domains and on the platform. */
export function createSlice(ports: GrantsDeps): Slice<'grants'> {
  return { handlers: { grants: createGrants(ports) } }
}
