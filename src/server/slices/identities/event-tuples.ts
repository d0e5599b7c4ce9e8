import type { EventTuples, TupleConsumer } from '../../ports/event-tuples.ts'
import { holdPrincipal } from '../../sql/hold-principal.ts'
import { parentEdgeOf } from './parent-edge.ts'

const edgeToDomain: EventTuples = {
  hold: async (tx, { aggregate, domainId }) => domainId !== null && holdPrincipal(tx, idOf(aggregate), domainId),
  tuplesOf: ({ aggregate, domainId }) =>
    domainId === null ? [] : [{ ...parentEdgeOf(aggregate, domainId), structural: true }],
}

/**
 * Re-asserts the edge of a principal to its Domain (S0 ServiceIdentityProvisioned, and users likewise). The principal was
 * created with it: it is written only where it was lost since, in a restore for instance.
 */
export const tupleConsumer: TupleConsumer = {
  // The name is older than the tuples of users.
  name: 'service-identity-parent-edge',
  events: { ServiceIdentityProvisioned: edgeToDomain, 'identity.UserProvisioned': edgeToDomain },
}

function idOf(reference: string): string {
  return reference.slice(reference.indexOf(':') + 1)
}
