import { problem } from '../../shared/problems.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { allocateAddress } from './address-store.ts'
import { announcePskAssigned, announceRegistered } from './announce.ts'
import { lockNode } from './node-store.ts'
import { nextPskIssuedAt } from './psk-epoch.ts'
import { insertNode, updateEnrolment, type Enrolment, type JoinTerms, type Placement } from './registration-store.ts'
import { addKey, revokeKeys } from './secret-key-store.ts'

/**
 * Adds a node with its edges to Domain and Project, and tells its peers.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`, `mesh_addresses_exhausted`.
 */
export async function enrol(change: Change, terms: JoinTerms, node: Enrolment & { name: string }): Promise<Placement> {
  const meshAddress = await allocateAddress(change.db, { id: terms.domainId, meshCidr: terms.meshCidr }, node.atMs)
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
  announce(change, terms, { ...node, ...placement })
  return placement
}

/**
 * Gives a node new keys under its id, name, address, Project and labels, and tells its peers. Its old secret keys are
 * dead with the commit.
 *
 * @throws Problem `public_key_in_use`; `invalid_join_token` when the node is gone.
 */
export async function enrolAgain(change: Change, terms: JoinTerms, node: Enrolment): Promise<Placement> {
  const stored = await lockNode(change.db, node.nodeId)
  if (stored === undefined) throw problem('invalid_join_token')
  const enrolment = { ...node, pskIssuedAtNs: nextPskIssuedAt(node.atMs, BigInt(stored.psk_issued_at)) }
  const placement = await updateEnrolment(change.db, enrolment)
  await revokeKeys(change.db, node.nodeId, node.atMs)
  await addKey(change.db, node.key)
  change.credentialChanged('nsk', node.nodeId)
  announce(change, terms, { ...enrolment, ...placement })
  return placement
}

function announce(change: Change, { domainId }: JoinTerms, node: Enrolment & Placement): void {
  const peer = { nodeId: node.nodeId, domainId }
  announceRegistered(change, peer, node)
  announcePskAssigned(change, peer, node.pskIssuedAtNs)
}
