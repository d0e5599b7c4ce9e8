import { problem } from '../../../shared/problems.ts'
import { resolveNodeLabels } from '../../labels/node-labels.ts'
import { addNodeLabels } from '../../labels/replace-node-labels.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { matchNewNode } from '../../policies/rematch-nodes.ts'
import { completeRotation } from '../../sql/key-rotations.ts'
import { announcePskAssigned } from '../../sql/node-psk.ts'
import { peersChanged } from '../../sql/state-revisions.ts'
import { addressFor, type TakenNumber } from './address-store.ts'
import { announceRegistered } from './announce.ts'
import { lockNode } from './node-store.ts'
import { nextPskIssuedAt } from '../../sql/psk-epoch.ts'
import { insertNode, updateEnrolment, type Enrolment, type JoinTerms, type Placement } from './registration-store.ts'
import { addKey, revokeKeys } from './secret-key-store.ts'

/** What a new node is added with: the terms of its token, and a number of its Domain's addresses. */
interface NewPlace {
  readonly terms: JoinTerms
  readonly taken: TakenNumber
  /** Of Definitions of its labels that were deleted since the token was created. */
  readonly ids: IdSource
}

/**
 * Adds a node with its labels, its edges to Domain and Project and its policies, and announces it to its peers.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`, `mesh_addresses_exhausted`; `aggregate_invariant` where a label
 *   of the token can no longer be put on nodes, or not with its value.
 */
export async function enrol(
  change: Change,
  { terms, taken, ids }: NewPlace,
  node: Enrolment & { name: string },
): Promise<Enrolled> {
  const domain = { id: terms.domainId, meshCidr: terms.meshCidr }
  const meshAddress = await addressFor(change.db, { domain, taken }, node.atMs)
  const placement = { name: node.name, meshAddress }
  await insertNode(change.db, terms, { ...node, ...placement })
  const place = { domainId: terms.domainId, projectId: terms.projectId }
  const resource = `node:${node.nodeId}`
  await change.tuples.createStructural({ subject: `domain:${terms.domainId}`, relation: 'domain', resource }, place)
  if (terms.projectId !== null) {
    await change.tuples.createStructural(
      { subject: `project:${terms.projectId}`, relation: 'project', resource },
      place,
    )
  }
  if (Object.keys(terms.labels).length > 0) await labelNode(change, terms, { id: node.nodeId, ids, atMs: node.atMs })
  const enrolled = announced(change, terms, { ...node, ...placement })
  await matchNewNode(change, terms.domainId, node.nodeId)
  return enrolled
}

/** Gives a new node the labels of its token. */
async function labelNode(
  change: Change,
  { domainId, labels, createdBy }: JoinTerms,
  { id, ids, atMs }: { readonly id: string; readonly ids: IdSource; readonly atMs: number },
): Promise<void> {
  const writing = { domainId, ids, nowMs: atMs }
  const resolved = await resolveNodeLabels(change, labels, writing)
  await addNodeLabels(change, { id, by: createdBy }, { labels: resolved, writing })
}

/**
 * Gives a node new keys under its id, name, address, Project and labels, and announces them to its peers. Its old secret keys are
 * invalid from the commit on. Both of its keys are new, so that a pending rotation is complete. The caller has locked
 * the Domain's peers.
 *
 * @throws Problem `public_key_in_use`; `invalid_join_token` when the node was deleted.
 */
export async function enrolAgain(change: Change, terms: JoinTerms, node: Enrolment): Promise<Enrolled> {
  const stored = await lockNode(change.db, node.nodeId)
  if (stored === undefined) throw problem('invalid_join_token')
  const enrolment = { ...node, pskIssuedAtNs: nextPskIssuedAt(node.atMs, BigInt(stored.psk_issued_at)) }
  const placement = await updateEnrolment(change.db, enrolment)
  await completeRotation(change.db, node.nodeId, node.atMs)
  await revokeKeys(change.db, node.nodeId, node.atMs)
  await addKey(change.db, node.key)
  change.credentialChanged('nsk', node.nodeId)
  await peersChanged(change.db, terms.domainId, [node.nodeId])
  return announced(change, terms, { ...enrolment, ...placement })
}

/** The current row of a node. */
export type Enrolled = Enrolment & Placement

/** Announces the node to its peers. */
function announced(change: Change, { domainId }: JoinTerms, node: Enrolled): Enrolled {
  const peer = { nodeId: node.nodeId, domainId }
  announceRegistered(change, peer, node)
  announcePskAssigned(change, peer, node.pskIssuedAtNs)
  return node
}
