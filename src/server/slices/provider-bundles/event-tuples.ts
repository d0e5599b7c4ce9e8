import { parseReference, PLATFORM } from '../../../shared/ids.ts'
import type { AssertedTuple, TupleConsumer } from '../../ports/event-tuples.ts'
import type { Db } from '../../ports/datastore.ts'
import type { NumberedEvent } from '../../ports/outbox.ts'
import { holdPrincipal } from '../../sql/hold-principal.ts'
import { createdBundle } from './events.ts'
import { holdBundle } from './store.ts'

const PLACE = { domainId: null, projectId: null }

/**
 * Writes what makes a new bundle readable: its edge to the platform, and the role `admin` of its creator (S1 Events,
 * decisions: Catalogue). Until then everybody is refused, platform administrators too.
 */
export const tupleConsumer: TupleConsumer = {
  name: 'bundle-grants',
  events: {
    ProviderBundleCreated: {
      hold: (tx, event) => holdBundle(tx, createdBundle.parse(event.payload).provider_bundle_id),
      tuplesOf: grantsOf,
    },
  },
}

async function grantsOf({ payload }: NumberedEvent, tx: Db): Promise<readonly AssertedTuple[]> {
  const { provider_bundle_id: id, created_by: creator } = createdBundle.parse(payload)
  const resource = `provider_bundle:${id}`
  const edge = { tuple: { subject: PLATFORM, relation: 'platform', resource }, place: PLACE, structural: true }
  const principal = parseReference(creator)
  if (principal === undefined || !(await holdPrincipal(tx, principal.id))) return [edge]
  return [edge, { tuple: { subject: creator, relation: 'admin', resource }, place: PLACE, structural: false }]
}
