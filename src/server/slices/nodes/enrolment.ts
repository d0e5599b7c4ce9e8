import { problem } from '../../../shared/problems.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { completeRotation } from '../../sql/key-rotations.ts'
import { announcePskAssigned } from '../../sql/node-psk.ts'
import { peersChanged } from '../../sql/state-revisions.ts'
import { addressFor, type TakenNumber } from './address-store.ts'
import { announceRegistered } from './announce.ts'
import { lockNode } from './node-store.ts'
import { nextPskIssuedAt } from '../../sql/psk-epoch.ts'
import { insertNode, updateEnrolment, type Enrolment, type JoinTerms, type Placement } from './registration-store.ts'
import { addKey, revokeKeys } from './secret-key-store.ts'

/**
 * Adds a node with its edges to Domain and Project, and announces it to its peers.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`, `mesh_addresses_exhausted`.
 */
export async function enrol(
  change: Change,
  { terms, taken }: { readonly terms: JoinTerms; readonly taken: TakenNumber },
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
  return announced(change, terms, { ...node, ...placement })
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
