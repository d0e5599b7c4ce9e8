import type { OutboxConsumer } from '../../ports/outbox.ts'
import { holdPrincipal } from '../../sql/hold-principal.ts'
import { parentEdgeOf } from './parent-edge.ts'

const PROVISIONED: ReadonlySet<string> = new Set(['ServiceIdentityProvisioned', 'identity.UserProvisioned'])

/**
 * Re-asserts the edge of a principal to its Domain (S0 ServiceIdentityProvisioned, and users likewise). The principal was
 * created with it: there is something to do only where it was lost since, in a restore for instance.
 */
export function createParentEdgeConsumer(): OutboxConsumer {
  return {
    // Older than users are: its cursor is kept under this name.
    name: 'service-identity-parent-edge',
    async handle({ db, tuples }, events) {
      for (const { event, aggregate, domainId } of events) {
        if (!PROVISIONED.has(event) || domainId === null) continue
        if (!(await holdPrincipal(db, idOf(aggregate), domainId))) continue
        const { tuple, place } = parentEdgeOf(aggregate, domainId)
        await tuples.restoreStructural(tuple, place)
      }
    },
  }
}

function idOf(reference: string): string {
  return reference.slice(reference.indexOf(':') + 1)
}
