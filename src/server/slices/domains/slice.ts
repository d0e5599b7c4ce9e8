import type { Slice } from '../../http/slice.ts'
import { createDomains, type DomainsDeps } from './service.ts'

export { events } from './events.ts'

/** Domains: the tenants of the platform. */
export function createSlice(ports: DomainsDeps): Slice<'domains'> {
  return { handlers: { domains: createDomains(ports) } }
}
