import { attempt } from '../calls/attempt.ts'
import { backoffMs } from '../calls/backoff.ts'
import { isFinalRefusal } from '../calls/final-refusal.ts'
import { createPeerView } from '../peers/peer-view.ts'
import { fetchEdgeKeysSoon } from '../keys/edge-key.ts'
import { learnNewerHalf } from '../keys/own-half.ts'
import type { Member, OwnFacts, Pulling } from '../member.ts'
import type { PulledState } from './state-pulls.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { applyPulledBridges } from '../bridges/bridge-changes.ts'
import { applyPulledPolicies } from '../policies/policy-changes.ts'
import { isOver } from '../is-over.ts'
import { applyPulledPeers } from '../peers/pulled-peers.ts'
import { OWN_FACTS } from './own-facts.ts'
import { applyPulledTasks } from './tasks-of-node.ts'

/** Maximum random delay of another pull after one during which events arrived. */
const AGAIN_WITHIN_MS = 1_000

/** Schedules a pull of the node's state after a random delay of up to `withinMs`. Further requests are merged into it. */
export function pullSoon<M extends Member>(deps: MemberDeps<M>, node: M, withinMs: number): void {
  const { pulling } = node
  if (pulling.state === 'running') pulling.state = 'again'
  if (pulling.state !== 'idle') return
  pulling.state = 'due'
  deps.tasks.schedule(deps.clock.random() * withinMs, () =>
    deps.mesh.limiters.pulls(deps.until, () => pull(deps, node)),
  )
}

/** Pulls the node's state and applies it. Without an `ETag` the server sends the state even if it is unchanged. */
async function pull<M extends Member>(deps: MemberDeps<M>, node: M): Promise<void> {
  const { pulling } = node
  pulling.state = 'running'
  for (const set of overtaking(pulling)) set.clear()
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.mesh.pull({ nodeId, nsk, etag: node.etag }),
  })
  const isOvertaken = overtaking(pulling).some(({ size }) => size > 0)
  const isAgain = pulling.state.valueOf() === 'again' || isOvertaken
  pulling.state = 'idle'
  if (outcome.ok) applyState(deps, node, outcome.value)
  // It is unknown whether the answer or the event was newer, so the next pull fetches the whole state.
  if (isOvertaken) node.etag = undefined
  if (!outcome.ok) return repeatLater(deps, node, outcome)
  pulling.failures = 0
  if (isAgain) pullSoon(deps, node, AGAIN_WITHIN_MS)
}

/**
 * Pulls again after a pause. A server does not ask for it where an earlier run of the agent has pulled the same state, and an agent
 * that has just started knows nothing yet.
 */
function repeatLater<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { code, waitMs }: { readonly code: string; readonly waitMs?: number | undefined },
): void {
  const { pulling } = node
  if (isFinalRefusal(code)) return
  pulling.failures += 1
  const { failures } = pulling
  deps.tasks.schedule(waitMs ?? backoffMs(deps.clock, failures), async () => {
    // Another number means that a later pull was answered, or has failed and has a pause of its own.
    if (pulling.failures === failures && !isOver(deps, node)) pullSoon(deps, node, 0)
  })
}

/** What events changed during the pull. */
function overtaking(pulling: Pulling): readonly Set<string>[] {
  const { changedPeers, removedPeers, changedPolicies, changedBridges, newExecutions, newSessions } = pulling
  return [changedPeers, removedPeers, changedPolicies, changedBridges, newExecutions, newSessions]
}

function applyState<M extends Member>(deps: MemberDeps<M>, node: M, pulled: PulledState | undefined): void {
  const { statistics, mesh } = deps
  if (pulled === undefined) return statistics.count('not_modified')
  if (pulled.isDegraded) statistics.count('degraded_pulls')
  const isOlderPerhaps = mayBeOlder(node, pulled)
  // An agent that knows nothing takes any.
  if (isOlderPerhaps && node.view !== undefined) return undefined
  const { read } = pulled
  if (!read.ok) return statistics.count('bad_snapshots')
  const { self, peers, policies } = read.snapshot
  node.etag = pulled.etag
  if (self !== undefined) applySelf(deps, node, self)
  applyPulledPolicies(deps, node, policies)
  applyPulledBridges(deps, node, { ...read.snapshot, mayBeOlder: isOlderPerhaps })
  applyPulledPeers(deps, node, createPeerView(mesh.book, peers))
  applyPulledTasks(deps, node, { ...read.snapshot, mayBeOlder: isOlderPerhaps })
}

/** An answer from the server's cache is not older than its `ETag` that the request had. */
function mayBeOlder({ etag }: Member, { isDegraded }: PulledState): boolean {
  return isDegraded && etag === undefined
}

/** Takes what the server knows of the node itself. */
function applySelf<M extends Member>(deps: MemberDeps<M>, node: M, self: OwnFacts): void {
  const { self: known } = node
  node.self = self
  if (learnNewerHalf(deps, node, self.psk_issued_at)) fetchEdgeKeysSoon(deps, node)
  if (known === undefined || OWN_FACTS.some((fact) => known[fact] !== self[fact])) deps.actions.selfChanged(node)
}
