import type { MemberDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import { backoffMs } from '../calls/backoff.ts'
import { isFinalRefusal } from '../calls/final-refusal.ts'
import { isOver } from '../is-over.ts'
import type { Member } from '../member.ts'
import { applyEdgeKey, type FetchedEdgeKey } from './sealed-edge.ts'

/** Maximum random delay of fetches that only this node makes: after a start and after its own rotation. */
const OWN_WITHIN_MS = 100
/** Maximum random delay of fetches that many nodes make at once, because a peer has a new key: it grows with their number. */
const SPREAD_MS_PER_PEER = 5
const SPREAD_MS_MAX = 1_000
/** Maximum number of edges of one call. */
const BATCH_MAX = 256
/** Refusals of a server that has no operation for several edges. */
const NO_BATCH: readonly string[] = ['not_found', 'method_not_allowed', 'not_provisioned']

/** Schedules a fetch of the key of an edge whose peer has a new key. */
export function fetchEdgeKeySoon<M extends Member>(deps: MemberDeps<M>, node: M, peerId: string): void {
  const spreadMs = Math.min(SPREAD_MS_MAX, SPREAD_MS_PER_PEER * deps.mesh.book.size())
  node.edgeFetches.wanted.add(peerId)
  scheduleFetches(deps, node, deps.clock.random() * spreadMs)
}

/** Schedules a fetch of the keys of these edges, all of the agent's by default, for a reason that only this node has. */
export function fetchEdgeKeysSoon<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  peerIds: readonly string[] = deps.actions.edgesOf(node),
): void {
  for (const peerId of peerIds) node.edgeFetches.wanted.add(peerId)
  if (peerIds.length > 0) scheduleFetches(deps, node, deps.clock.random() * OWN_WITHIN_MS)
}

/** Forgets the edge with a peer that the node does not have any more. */
export function forgetEdge({ edges, edgeFetches }: Member, peerId: string): void {
  edges?.delete(peerId)
  edgeFetches.wanted.delete(peerId)
  edgeFetches.failures.delete(peerId)
}

/** One call serves all requests until it starts. */
function scheduleFetches<M extends Member>(deps: MemberDeps<M>, node: M, delayMs: number): void {
  const { edgeFetches } = node
  const dueMs = deps.clock.now() + delayMs
  if (edgeFetches.isRunning || (edgeFetches.dueMs !== undefined && edgeFetches.dueMs <= dueMs)) return
  edgeFetches.dueMs = dueMs
  deps.tasks.schedule(delayMs, () => fetchWanted(deps, node))
}

/** Fetches until no key is wanted, in one call after the other: fetches of one edge never overlap. */
async function fetchWanted<M extends Member>(deps: MemberDeps<M>, node: M): Promise<void> {
  const { edgeFetches } = node
  if (edgeFetches.isRunning) return
  edgeFetches.dueMs = undefined
  edgeFetches.isRunning = true
  while (edgeFetches.wanted.size > 0 && !deps.until.aborted)
    await deps.mesh.limiters.edgeKeys(deps.until, () => fetchNext(deps, node))
  edgeFetches.isRunning = false
}

async function fetchNext<M extends Member>(deps: MemberDeps<M>, node: M): Promise<void> {
  const { wanted } = node.edgeFetches
  const hasBatch = wanted.size > 1 && !deps.notProvisioned.has('edge_keys')
  if (hasBatch) return fetchSeveral(deps, node, take(wanted, BATCH_MAX))
  const [peerId] = take(wanted, 1)
  if (peerId !== undefined) await fetchOne(deps, node, peerId)
}

/** Removes up to that number of values. */
function take(wanted: Set<string>, max: number): readonly string[] {
  const taken: string[] = []
  for (const peerId of wanted) {
    if (taken.length === max) break
    taken.push(peerId)
    wanted.delete(peerId)
  }
  return taken
}

async function fetchSeveral<M extends Member>(deps: MemberDeps<M>, node: M, peerIds: readonly string[]): Promise<void> {
  const { identity, isNextInDoubt: wasInDoubt } = node
  const { node_id: nodeId } = identity
  const outcome = await attempt(deps, node, {
    operation: 'edge_keys',
    isRepeatable: true,
    toleratedCodes: NO_BATCH,
    call: (nsk) => deps.mesh.wire.fetchEdgeKeys({ nodeId, nsk, peerIds }),
  })
  if (!outcome.ok && NO_BATCH.includes(outcome.code)) {
    deps.notProvisioned.add('edge_keys')
    for (const peerId of peerIds) node.edgeFetches.wanted.add(peerId)
    return
  }
  const fetched = outcome.ok ? outcome.value.map((sealed) => ({ peerId: sealed.peerId, sealed, wasInDoubt })) : []
  conclude(deps, node, { peerIds, fetched, code: outcome.ok ? undefined : outcome.code })
}

async function fetchOne<M extends Member>(deps: MemberDeps<M>, node: M, peerId: string): Promise<void> {
  const { identity, isNextInDoubt: wasInDoubt } = node
  const { node_id: nodeId } = identity
  const outcome = await attempt(deps, node, {
    operation: 'edge_key',
    isRepeatable: true,
    call: (nsk) => deps.mesh.wire.fetchEdgeKey({ nodeId, nsk, peerId }),
  })
  if (outcome.ok) conclude(deps, node, { peerIds: [peerId], fetched: [{ peerId, sealed: outcome.value, wasInDoubt }] })
  else conclude(deps, node, { peerIds: [peerId], fetched: [], code: outcome.code })
}

interface Concluded {
  /** The peers whose keys were requested. */
  readonly peerIds: readonly string[]
  readonly fetched: readonly FetchedEdgeKey[]
  /** Why the call failed; undefined if it was answered. */
  readonly code?: string | undefined
}

/** Applies the keys of an answer, and requests the others again after a pause. */
function conclude<M extends Member>(deps: MemberDeps<M>, node: M, { peerIds, fetched, code }: Concluded): void {
  const requested = new Set(peerIds)
  for (const one of fetched) {
    // A server that answers for another peer is wrong.
    if (!requested.has(one.peerId)) continue
    const { isTaken, isPairAdopted } = applyEdgeKey(deps, node, one)
    if (isTaken && requested.delete(one.peerId)) node.edgeFetches.failures.delete(one.peerId)
    if (isPairAdopted) fetchEdgeKeysSoon(deps, node)
  }
  if (code === undefined || !isFinalRefusal(code)) retryLater(deps, node, [...requested])
}

/** Requests the keys of known peers again: the server may be away, or the epoch of an answer was refused. */
function retryLater<M extends Member>(deps: MemberDeps<M>, node: M, peerIds: readonly string[]): void {
  const { failures } = node.edgeFetches
  const counts = new Map<string, number>()
  for (const peerId of peerIds.filter((one) => node.view?.find(one) !== undefined)) {
    counts.set(peerId, (failures.get(peerId) ?? 0) + 1)
    failures.set(peerId, counts.get(peerId) ?? 1)
  }
  if (counts.size === 0) return
  deps.tasks.schedule(backoffMs(deps.clock, Math.max(...counts.values())), async () => {
    // Another count means that the key was fetched, is not wanted any more, or has failed again and has a later pause.
    const due = [...counts].filter(([peerId, count]) => failures.get(peerId) === count)
    if (!isOver(deps, node))
      fetchEdgeKeysSoon(
        deps,
        node,
        due.map(([peerId]) => peerId),
      )
  })
}
