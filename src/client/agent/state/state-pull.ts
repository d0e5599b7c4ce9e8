import { attempt } from '../calls/attempt.ts'
import { createPeerView } from '../peers/peer-view.ts'
import type { Member } from '../member.ts'
import type { PulledState } from './state-pulls.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { applyPulledBridges } from '../bridges/bridge-changes.ts'
import { applyPulledPolicies } from '../policies/policy-changes.ts'
import { applyPulledPeers } from '../peers/pulled-peers.ts'

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
  pulling.changedPeers.clear()
  pulling.changedPolicies.clear()
  pulling.changedBridges.clear()
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.mesh.pull({ nodeId, nsk, etag: node.etag }),
  })
  const isOvertaken = pulling.changedPeers.size + pulling.changedPolicies.size + pulling.changedBridges.size > 0
  const isAgain = pulling.state.valueOf() === 'again' || isOvertaken
  pulling.state = 'idle'
  if (outcome.ok) applyState(deps, node, outcome.value)
  // It is unknown whether the answer or the event was newer, so the next pull fetches the whole state.
  if (isOvertaken) node.etag = undefined
  if (isAgain) pullSoon(deps, node, AGAIN_WITHIN_MS)
}

function applyState<M extends Member>(deps: MemberDeps<M>, node: M, pulled: PulledState | undefined): void {
  const { statistics, mesh, actions } = deps
  if (pulled === undefined) return statistics.count('not_modified')
  if (pulled.isDegraded) return statistics.count('degraded_pulls')
  const { read } = pulled
  if (!read.ok) return statistics.count('bad_snapshots')
  const { peers, policies, executions, sessions } = read.snapshot
  node.etag = pulled.etag
  applyPulledPolicies(deps, node, policies)
  applyPulledBridges(deps, node, read.snapshot)
  applyPulledPeers(deps, node, createPeerView(mesh.book, peers))
  for (const execution of executions) actions.execute(node, execution)
  for (const session of sessions) actions.openSession(node, session)
}
