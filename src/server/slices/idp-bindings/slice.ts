import type { Slice } from '../../http/slice.ts'
import { createIdpBindings, type IdpBindingsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Bindings of Domains to identity providers. */
export function createSlice(ports: IdpBindingsDeps): Slice<'idpBindings'> {
  return { handlers: { idpBindings: createIdpBindings(ports) } }
}
