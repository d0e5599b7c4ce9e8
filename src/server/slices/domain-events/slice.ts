import type { Slice } from '../../http/slice.ts'
import { createDomainEvents, type DomainEventsDeps } from './service.ts'

/** Signed event streams of Domains, for operators. */
export function createSlice(ports: DomainEventsDeps): Slice<'domainEvents'> {
  const events = createDomainEvents(ports)
  return { handlers: { domainEvents: events.handlers }, flush: () => events.stop() }
}
