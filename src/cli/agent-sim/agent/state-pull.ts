import { attempt } from '../attempt.ts'
import { createPeerView } from '../peer-view.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { PulledState } from '../state-pulls.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { carryOut } from './execution.ts'
import { openSession } from './session.ts'
import { takePeers } from './pulled-peers.ts'

/** Another pull after one during which something was heard. */
const AGAIN_WITHIN_MS = 1_000

/** Sets out to pull the node's state at a random moment within so many ms, and when it is the node's turn. */
export function pullSoon(deps: MeshAgentDeps, node: SimulatedNode, withinMs: number): void {
  const { pulling } = node
  if (pulling.state === 'running') pulling.state = 'again'
  if (pulling.state !== 'idle') return
  pulling.state = 'due'
  deps.errands.soon(deps.clock.random() * withinMs, () =>
    deps.mesh.turnstiles.pulls(deps.until, () => pull(deps, node)),
  )
}

/** Pulls the node's state and takes what it says. Without a tag the whole of it comes, whether or not it has changed. */
async function pull(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  const { pulling } = node
  pulling.state = 'running'
  pulling.told.clear()
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.mesh.pull({ nodeId, nsk, etag: node.etag }),
  })
  const isAgain = pulling.state.valueOf() === 'again' || pulling.told.size > 0
  pulling.state = 'idle'
  if (outcome.ok) take(deps, node, outcome.value)
  // Whether the answer or the event was newer is not known: the whole of it, once more, tells.
  if (pulling.told.size > 0) node.etag = undefined
  if (isAgain) pullSoon(deps, node, AGAIN_WITHIN_MS)
}

function take(deps: MeshAgentDeps, node: SimulatedNode, pulled: PulledState | undefined): void {
  const { statistics, mesh } = deps
  if (pulled === undefined) return statistics.count('not_modified')
  if (pulled.isDegraded) return statistics.count('degraded_pulls')
  const { read } = pulled
  if (!read.ok) return statistics.count('bad_snapshots')
  const { peers, executions, sessions } = read.snapshot
  node.etag = pulled.etag
  takePeers(deps, node, createPeerView(mesh.book, peers))
  for (const execution of executions) carryOut(deps, node, execution)
  for (const session of sessions) openSession(deps, node, session)
}
