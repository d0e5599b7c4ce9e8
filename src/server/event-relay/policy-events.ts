import type { Db } from '../ports/datastore.ts'
import { SHARED_EVENTS } from '../ports/outbox-events.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import { readRevisions, revisionsInForce, type MatchedRevision } from './audience-store.ts'
import { endOfPolicy, policyTemplate, type NodeEvent } from './event-template.ts'

const { policy_revision_created: REVISED, policy_deleted: DELETED } = SHARED_EVENTS

type Change = 'revised' | 'deleted'
/** Makes the events of one outbox row, ordered by node id. */
type PolicyEvents = (event: NumberedEvent, change: Change) => NodeEvent[]

/** Reads the policy revisions that the outbox rows name, and makes the events for the nodes that they match. */
export async function createPolicyEvents(db: Db, events: readonly NumberedEvent[]): Promise<PolicyEvents> {
  const revised = events.filter(({ event }) => event === 'policy_revision_created')
  const ids = revised.map(({ payload }) => REVISED.payload.parse(payload).revision_id)
  const revisions = await readRevisions(db, ids)
  await assertSuperseded(
    db,
    ids.filter((id) => !revisions.has(id)),
  )
  return (event, change) => (change === 'deleted' ? deletionEvents(event) : revisionEvents(event, revisions))
}

/**
 * A missing revision is harmless if a newer revision or the policy's deletion follows it in the outbox.
 *
 * @throws Error if a missing revision is still in force: its nodes would keep old rules.
 */
async function assertSuperseded(db: Db, missing: readonly string[]): Promise<void> {
  const [inForce] = await revisionsInForce(db, missing)
  if (inForce !== undefined) throw new Error(`the policy revision ${inForce} is in force and has no rules`)
}

/** One event per node that the policy matches, and the policy's end for nodes that only the revision before matched. */
function revisionEvents(event: NumberedEvent, revisions: ReadonlyMap<string, MatchedRevision>): NodeEvent[] {
  const revision = revisions.get(REVISED.payload.parse(event.payload).revision_id)
  if (revision === undefined) return []
  const { policyId, revisionId, formerId = revisionId } = revision
  const present = policyTemplate(event, revision)
  const end = endOfPolicy(event, { policyId, revisionId: formerId })
  return revision.matches.map(({ nodeId, isMatched }) => ({ nodeId, template: isMatched ? present : end }))
}

function deletionEvents(event: NumberedEvent): NodeEvent[] {
  const { policy_id: policyId, revision_id: revisionId, node_ids: nodeIds } = DELETED.payload.parse(event.payload)
  const template = endOfPolicy(event, { policyId, revisionId })
  return [...new Set(nodeIds)].toSorted().map((nodeId) => ({ nodeId, template }))
}
