import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { visibilityChanged } from './visibility-changes.ts'
import { ownStateChanged, peersChanged } from '../sql/state-revisions.ts'
import { bindStored } from './bound-selectors.ts'
import { emitGroup } from './change-groups.ts'
import { evaluateNodes } from './evaluate-nodes.ts'
import { readGroups } from './groups-store.ts'
import {
  changeMatches,
  groupsOf,
  groupsText,
  readMatchesOf,
  readNodes,
  writeGroups,
  type Match,
  type MatchedNode,
} from './nodes-store.ts'
import { domainsWithPolicies, readPolicySelectors } from './policy-selectors.ts'

type Rematching = Pick<Change, 'db' | 'emit'>

/**
 * Matches nodes of a Domain again, after their labels changed: from what is stored now, so that it does not matter how often
 * and in which order it is done. Tells the nodes whose policies are others, and the peers of those whose groups are. The
 * caller holds the peers of the Domain.
 */
export async function rematchNodes(change: Rematching, domainId: string, nodes: readonly MatchedNode[]): Promise<void> {
  const { db } = change
  if (nodes.length === 0) return
  const [policies, groups] = [await readPolicySelectors(db, domainId), await readGroups(db, domainId)]
  if (policies.length === 0) return
  const bound = await bindStored(
    db,
    domainId,
    [...policies, ...groups].map(({ selector }) => selector),
  )
  const select = await evaluateNodes(db, domainId, { nodes, bound, isAll: false })
  const wanted = policies.flatMap(({ id, selector }) => select(selector).map((nodeId) => ({ policyId: id, nodeId })))
  const members = groups.map(({ number, selector }) => ({ number, nodeIds: select(selector) }))
  const regrouped = differingGroups(nodes, members)
  await store(change, domainId, { regrouped, rematched: await differingMatches(change, nodes, wanted) })
}

/**
 * Matches nodes that the transaction adds, given by Domain, so that no policy leaves them out until an event is consumed. The
 * caller holds the peers of the Domains.
 */
export async function matchNewNodes(
  change: Rematching,
  nodeIdsOf: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const policed = await domainsWithPolicies(change.db, [...nodeIdsOf.keys()])
  for (const [domainId, ids] of nodeIdsOf)
    if (policed.has(domainId)) await rematchNodes(change, domainId, await readNodes(change.db, { domainId, ids }))
}

interface Differences {
  readonly regrouped: readonly Regrouped[]
  readonly rematched: Rematched
}

async function store(change: Rematching, domainId: string, { regrouped, rematched }: Differences): Promise<void> {
  const { db } = change
  const changed = new Set([...rematched.nodeIds, ...regrouped.map(({ nodeId }) => nodeId)])
  await visibilityChanged(change, domainId, [...changed])
  await regroup(change, domainId, regrouped)
  await changeMatches(db, rematched)
  await ownStateChanged(db, rematched.nodeIds)
  for (const nodeId of rematched.nodeIds)
    change.emit({ event: 'node_policies_changed', domainId, aggregate: `node:${nodeId}`, payload: { node_id: nodeId } })
}

interface Regrouped {
  readonly nodeId: string
  /** Ascending. */
  readonly groups: readonly number[]
  readonly former: readonly number[]
}

function differingGroups(
  nodes: readonly MatchedNode[],
  members: readonly { readonly number: number; readonly nodeIds: readonly string[] }[],
): readonly Regrouped[] {
  const wanted = new Map<string, number[]>(nodes.map(({ id }) => [id, []]))
  for (const { number, nodeIds } of members) for (const id of nodeIds) wanted.get(id)?.push(number)
  return nodes.flatMap(({ id, groups }) => {
    const numbers = wanted.get(id) ?? []
    return groupsText(numbers) === groups ? [] : [{ nodeId: id, groups: numbers, former: groupsOf(groups) }]
  })
}

interface Rematched {
  readonly added: readonly Match[]
  readonly removed: readonly Match[]
  /** Nodes with other policies than before, ascending. */
  readonly nodeIds: readonly string[]
}

async function differingMatches(
  { db }: Rematching,
  nodes: readonly MatchedNode[],
  wanted: readonly Match[],
): Promise<Rematched> {
  const stored = await readMatchesOf(
    db,
    nodes.map(({ id }) => id),
  )
  const keyOf = ({ policyId, nodeId }: Match) => `${policyId} ${nodeId}`
  const [isStored, isWanted] = [new Set(stored.map(keyOf)), new Set(wanted.map(keyOf))]
  const added = wanted.filter((match) => !isStored.has(keyOf(match)))
  const removed = stored.filter((match) => !isWanted.has(keyOf(match)))
  const nodeIds = [...new Set([...added, ...removed].map(({ nodeId }) => nodeId))].toSorted()
  return { added, removed, nodeIds }
}

/** Tells peers of few nodes in a row for each node, and of many in a row for each group: a hint lists no more of the former. */
async function regroup(change: Rematching, domainId: string, regrouped: readonly Regrouped[]): Promise<void> {
  if (regrouped.length === 0) return
  await peersChanged(
    change.db,
    domainId,
    regrouped.map(({ nodeId }) => nodeId),
  )
  await writeGroups(change.db, regrouped)
  if (regrouped.length > PEERS_INLINE_MAX) emitGroups(change, domainId, regrouped)
  else for (const one of regrouped) emitPeer(change, domainId, one)
}

function emitPeer(change: Rematching, domainId: string, { nodeId, groups }: Regrouped): void {
  change.emit({
    event: 'peer_groups_changed',
    domainId,
    aggregate: `node:${nodeId}`,
    payload: { node_id: nodeId, groups: [...groups] },
  })
}

function emitGroups(change: Rematching, domainId: string, regrouped: readonly Regrouped[]): void {
  const changes = new Map<number, { added: string[]; removed: string[] }>()
  const of = (number: number) => {
    const known = changes.get(number) ?? { added: [], removed: [] }
    changes.set(number, known)
    return known
  }
  for (const { nodeId, groups, former } of regrouped) {
    for (const number of groups) if (!former.includes(number)) of(number).added.push(nodeId)
    for (const number of former) if (!groups.includes(number)) of(number).removed.push(nodeId)
  }
  const ordered = Array.from(changes).toSorted(([a], [b]) => a - b)
  for (const [number, { added, removed }] of ordered) emitGroup(change, domainId, { number, added, removed })
}
