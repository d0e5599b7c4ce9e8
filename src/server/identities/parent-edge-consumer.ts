import type { OutboxConsumer } from '../ports/outbox.ts'
import { parentEdgeOf } from './parent-edge.ts'
import { holdPrincipal } from './store.ts'

/**
 * Re-asserts the edge of a service identity to its Domain (S0 ServiceIdentityProvisioned). The identity was created with
 * it: there is something to do only where it was lost since, in a restore for instance.
 */
export function createParentEdgeConsumer(): OutboxConsumer {
  return {
    name: 'service-identity-parent-edge',
    async handle({ db, tuples }, events) {
      for (const { event, aggregate, domainId } of events) {
        if (event !== 'ServiceIdentityProvisioned' || domainId === null) continue
        if (!(await holdPrincipal(db, domainId, idOf(aggregate)))) continue
        const { tuple, place } = parentEdgeOf(aggregate, domainId)
        await tuples.restoreStructural(tuple, place)
      }
    },
  }
}

function idOf(reference: string): string {
  return reference.slice(reference.indexOf(':') + 1)
}
