import type { Db } from '../ports/datastore.ts'
import { OUTBOX_EVENTS } from '../ports/outbox-events.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import { readRevisions, revisionsInForce, type MatchedRevision } from './audience-store.ts'
import { endOfPolicy, policyTemplate, type Told } from './event-template.ts'

const { policy_revision_created: REVISED, policy_deleted: DELETED } = OUTBOX_EVENTS

type Change = 'revised' | 'deleted'
type PolicyTelling = (event: NumberedEvent, change: Change) => Told[]

/** Reads what is to be said of policies, and says it for one event after another. */
export async function createPolicyTelling(db: Db, events: readonly NumberedEvent[]): Promise<PolicyTelling> {
  const revised = events.filter(({ event }) => event === 'policy_revision_created')
  const ids = revised.map(({ payload }) => REVISED.payload.parse(payload).revision_id)
  const revisions = await readRevisions(db, ids)
  await assertFollowed(
    db,
    ids.filter((id) => !revisions.has(id)),
  )
  return (event, change) => (change === 'deleted' ? tellDeleted(event) : tellRevised(event, revisions))
}

/**
 * A revision that is gone was followed by another or by the policy's end, which are told of later.
 * @throws Error where it is still in force: a caller that goes on would leave nodes with old rules.
 */
async function assertFollowed(db: Db, missing: readonly string[]): Promise<void> {
  const [inForce] = await revisionsInForce(db, missing)
  if (inForce !== undefined) throw new Error(`the policy revision ${inForce} is in force and has no rules`)
}

/** One event per node that the policy matches, and the policy's end for those that only its former revision did. */
function tellRevised(event: NumberedEvent, revisions: ReadonlyMap<string, MatchedRevision>): Told[] {
  const revision = revisions.get(REVISED.payload.parse(event.payload).revision_id)
  if (revision === undefined) return []
  const { policyId, revisionId, formerId = revisionId } = revision
  const present = policyTemplate(event, revision)
  const end = endOfPolicy(event, { policyId, revisionId: formerId })
  return revision.matches.map(({ nodeId, isMatched }) => ({ nodeId, template: isMatched ? present : end }))
}

function tellDeleted(event: NumberedEvent): Told[] {
  const { policy_id: policyId, revision_id: revisionId, node_ids: nodeIds } = DELETED.payload.parse(event.payload)
  const template = endOfPolicy(event, { policyId, revisionId })
  return [...new Set(nodeIds)].toSorted().map((nodeId) => ({ nodeId, template }))
}
