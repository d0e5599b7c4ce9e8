import { problem } from '../../../shared/problems.ts'
import { resolveNodeLabels } from '../../labels/node-labels.ts'
import { addNodeLabels } from '../../labels/replace-node-labels.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Change, PlacedTuple } from '../../ports/unit-of-work.ts'
import { matchNewNodes } from '../../policies/rematch-nodes.ts'
import { completeRotation } from '../../sql/key-rotations.ts'
import { lockNodeFully } from '../../sql/lock-node.ts'
import { announcePskAssigned } from '../../sql/node-psk.ts'
import { peersChanged } from '../../sql/state-revisions.ts'
import { addressesFor } from './address-store.ts'
import { announceRegistered } from './announce.ts'
import { nextPskIssuedAt } from '../../sql/psk-epoch.ts'
import {
  insertNodes,
  updateEnrolment,
  type Enrolment,
  type JoinTerms,
  type JoinUses,
  type NewNode,
  type Placement,
} from './registration-store.ts'
import { addKey, revokeKeys } from './secret-key-store.ts'

/** A node that joins, and the id of the token that it joins with. */
export interface Newcomer extends Enrolment {
  readonly tokenId: string
  readonly name: string
}

/** A transaction in which nodes join, with the uses of their tokens. */
export interface Joining {
  readonly change: Change
  readonly uses: JoinUses
  /** Of Definitions of labels that were deleted since a token was created. */
  readonly ids: IdSource
}

/**
 * Adds nodes with their labels, their edges to Domain and Project and their policies, and announces them to their peers: in as
 * many statements as for one, but for those of labels. Resolves with them in the same order.
 *
 * @throws Problem `node_name_conflict`, `public_key_in_use`, `mesh_addresses_exhausted`; `aggregate_invariant` where a label
 *   of a token can no longer be put on nodes, or not with its value. Of several nodes: for one of them.
 */
export async function enrolAll<N extends Newcomer>(
  joining: Joining,
  newcomers: readonly N[],
): Promise<readonly (N & NewNode)[]> {
  const { change, uses } = joining
  const nodes = await placed(joining, newcomers)
  await insertNodes(change.db, nodes)
  await change.tuples.createEdges(nodes.flatMap(edgesOf))
  for (const [tokenId, terms] of uses.terms) {
    const labelled = nodes.filter((node) => node.tokenId === tokenId)
    await labelNodes(joining, terms, labelled)
  }
  for (const node of nodes) announce(change, node.terms, node)
  const joined = byDomain(nodes).map(([domainId, of]) => [domainId, of.map(({ nodeId }) => nodeId)] as const)
  await matchNewNodes(change, new Map(joined))
  return nodes
}

/** Gives each newcomer the terms of its token and the next address of its Domain. */
async function placed<N extends Newcomer>(
  { change, uses }: Joining,
  newcomers: readonly N[],
): Promise<readonly (N & NewNode)[]> {
  const joining = newcomers.map((newcomer) => ({ ...newcomer, terms: termsOf(uses, newcomer.tokenId) }))
  const addresses = new Map<string, string[]>()
  for (const [id, of] of byDomain(joining)) {
    const [{ terms, atMs }] = of
    const taken = uses.taken.get(id)
    if (taken === undefined) throw new Error(`no numbers were taken for Domain ${id}`)
    const domain = { id, meshCidr: terms.meshCidr }
    addresses.set(id, await addressesFor(change.db, { domain, taken, count: of.length }, atMs))
  }
  return joining.map((node) => ({ ...node, meshAddress: addresses.get(node.terms.domainId)?.shift() ?? '' }))
}

function termsOf({ terms }: JoinUses, tokenId: string): JoinTerms {
  const found = terms.get(tokenId)
  if (found === undefined) throw new Error(`join token ${tokenId} was not used`)
  return found
}

/** The nodes of each Domain, Domains in ascending order: rows of several are locked in it. */
function byDomain<N extends { readonly terms: JoinTerms }>(nodes: readonly N[]): (readonly [string, [N, ...N[]]])[] {
  const groups = new Map<string, [N, ...N[]]>()
  for (const node of nodes) {
    const group = groups.get(node.terms.domainId)
    if (group === undefined) groups.set(node.terms.domainId, [node])
    else group.push(node)
  }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** To its Domain and, where it has one, its Project. */
function edgesOf({ nodeId, terms: { domainId, projectId } }: NewNode): PlacedTuple[] {
  const [place, resource] = [{ domainId, projectId }, `node:${nodeId}`]
  const toDomain = { tuple: { subject: `domain:${domainId}`, relation: 'domain', resource }, place }
  if (projectId === null) return [toDomain]
  return [toDomain, { tuple: { subject: `project:${projectId}`, relation: 'project', resource }, place }]
}

/** Gives new nodes the labels of the token that they joined with. */
async function labelNodes(
  { change, ids }: Joining,
  { domainId, labels, createdBy: by }: JoinTerms,
  nodes: readonly NewNode[],
): Promise<void> {
  const [first] = nodes
  if (first === undefined || Object.keys(labels).length === 0) return
  const writing = { domainId, ids, nowMs: first.atMs }
  const resolved = await resolveNodeLabels(change, labels, writing)
  const labelled = nodes.map(({ nodeId: id }) => ({ id, by }))
  await addNodeLabels(change, labelled, { labels: resolved, writing })
}

/**
 * Gives a node new keys under its id, name, address, Project and labels, and announces them to its peers. Its old secret keys are
 * invalid from the commit on. Both of its keys are new, so that a pending rotation is complete. The caller has locked
 * the Domain's peers.
 *
 * @throws Problem `public_key_in_use`; `invalid_join_token` when the node was deleted.
 */
export async function enrolAgain(change: Change, terms: JoinTerms, node: Enrolment): Promise<Enrolled> {
  const stored = await lockNodeFully(change.db, node.nodeId)
  if (stored === undefined) throw problem('invalid_join_token')
  const enrolment = { ...node, pskIssuedAtNs: nextPskIssuedAt(node.atMs, BigInt(stored.psk_issued_at)) }
  const placement = await updateEnrolment(change.db, enrolment)
  await completeRotation(change.db, node.nodeId, node.atMs)
  await revokeKeys(change.db, node.nodeId, node.atMs)
  await addKey(change.db, node.key)
  change.credentialChanged('nsk', node.nodeId)
  await peersChanged(change.db, terms.domainId, [node.nodeId])
  const enrolled = { ...enrolment, ...placement }
  announce(change, terms, enrolled)
  return enrolled
}

/** The current row of a node. */
export type Enrolled = Enrolment & Placement

/** Announces the node to its peers. */
function announce(change: Change, { domainId }: JoinTerms, node: Enrolled): void {
  const peer = { nodeId: node.nodeId, domainId }
  announceRegistered(change, peer, node)
  announcePskAssigned(change, peer, node.pskIssuedAtNs)
}
