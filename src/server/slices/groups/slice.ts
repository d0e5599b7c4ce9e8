import type { Slice } from '../../http/slice.ts'
import { createGroups, type GroupsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Groups: subjects that share roles. */
export function createSlice(ports: GroupsDeps): Slice<'groups'> {
  return { handlers: { groups: createGroups(ports) } }
}
