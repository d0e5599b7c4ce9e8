import type { Db } from '../ports/datastore.ts'
import { SHARED_EVENTS } from '../ports/outbox-events.ts'
import type { NumberedEvent } from '../ports/outbox.ts'
import { readMatchesAmong, readRevisions, revisionsInForce, type MatchedRevision } from './audience-store.ts'
import { endOfPolicy, policyTemplate, type NodeEvent } from './event-template.ts'

const { policy_revision_created: REVISED, policy_deleted: DELETED } = SHARED_EVENTS

/** Makes the events of one outbox row, ordered by node id. */
type PolicyEvents = (event: NumberedEvent) => NodeEvent[]

/** Reads the policy revisions that the outbox rows name, and makes the events for the nodes that they match. */
export async function createPolicyEvents(db: Db, events: readonly NumberedEvent[]): Promise<PolicyEvents> {
  const revised = events
    .filter(({ event }) => event === 'policy_revision_created')
    .map(({ payload }) => REVISED.payload.parse(payload))
  const ids = revised.map(({ revision_id }) => revision_id)
  const revisions = await readRevisions(db, ids)
  await assertSuperseded(
    db,
    ids.filter((id) => !revisions.has(id)),
  )
  const matches = await readMatchesAmong(
    db,
    revised.map(({ policy_id }) => policy_id),
    revised.flatMap(({ left_node_ids }) => left_node_ids),
  )
  const matched = new Set(matches.map(({ policy_id, node_id }) => `${policy_id} ${node_id}`))
  const isMatched = (policyId: string, nodeId: string) => matched.has(`${policyId} ${nodeId}`)
  return (event) =>
    event.event === 'policy_deleted' ? deletionEvents(event) : revisionEvents(event, { revisions, isMatched })
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

interface Revisions {
  readonly revisions: ReadonlyMap<string, MatchedRevision>
  /** Whether the policy matches the node by now. */
  readonly isMatched: (policyId: string, nodeId: string) => boolean
}

/**
 * One event per node that the policy matches, and the policy's end for nodes that only the revision before matched. Who
 * matches is read now: where a newer revision matches others, its event follows and gives them their rules or their end.
 */
function revisionEvents(event: NumberedEvent, { revisions, isMatched }: Revisions): NodeEvent[] {
  const { policy_id: policyId, ...named } = REVISED.payload.parse(event.payload)
  const { revision_id: revisionId, former_revision_id: formerId = revisionId, left_node_ids: left } = named
  const revision = revisions.get(revisionId)
  const present = revision === undefined ? [] : presentEvents(event, revision)
  const end = endOfPolicy(event, { policyId, revisionId: formerId })
  const ends = left.filter((nodeId) => !isMatched(policyId, nodeId)).map((nodeId) => ({ nodeId, template: end }))
  return [...present, ...ends].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
}

function presentEvents(event: NumberedEvent, revision: MatchedRevision): NodeEvent[] {
  const template = policyTemplate(event, revision)
  return revision.nodeIds.map((nodeId) => ({ nodeId, template }))
}

function deletionEvents(event: NumberedEvent): NodeEvent[] {
  const { policy_id: policyId, revision_id: revisionId, node_ids: nodeIds } = DELETED.payload.parse(event.payload)
  const template = endOfPolicy(event, { policyId, revisionId })
  return [...new Set(nodeIds)].toSorted().map((nodeId) => ({ nodeId, template }))
}
