import { attempt } from './attempt.ts'
import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { inLanes } from './lanes.ts'
import { createPeerView, type PeerDifference, type PeerView } from './peer-view.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** How long a run waits at its end for what agents have set out to do: a stream may outlive a revoked key for half a minute. */
const SETTLE_MS_MAX = 35_000
/** Changes of a second are told together. */
const QUIET_MS = 1_500
/** Agents whose view is compared with a pull, and how often, since the last events may still be on their way. */
const COMPARED_NODES = 32
const COMPARED_TIMES = 5
const BETWEEN_MS = 1_000
/** Of a large Domain each node hears less often: all of them together a thousand times a second (docs: Scaling). */
const BETWEEN_MS_PER_NODE = 0.5
const LANES = 8
/** Up to so many nodes every agent's word on every other one is compared, beyond that the sampled edges only. */
const COMPARED_WITH_ALL = 1_000

/** Waits until agents have done what they set out to do, then compares what they know with the server and with each other. */
export async function settle(
  deps: MeshAgentDeps,
  nodes: readonly SimulatedNode[],
  interrupted: AbortSignal,
): Promise<void> {
  await quiet(deps, interrupted)
  if (interrupted.aborted) return
  const whole = nodes.filter((node) => node.view !== undefined && !node.isCutOff)
  await inLanes(sample(whole), { concurrency: LANES, until: interrupted }, (node) =>
    comparePeers(deps, node, BETWEEN_MS + BETWEEN_MS_PER_NODE * nodes.length),
  )
  await quiet(deps, interrupted)
  compareEdges(deps, whole)
}

/** Until nothing is open, and has not been for a moment in which events could have come; or until it is too late. */
async function quiet({ clock, errands }: MeshAgentDeps, interrupted: AbortSignal): Promise<void> {
  const late = new AbortController()
  const until = AbortSignal.any([late.signal, interrupted])
  const timeIsUp = clock.pause(SETTLE_MS_MAX, until).then(() => late.abort())
  do {
    await Promise.race([errands.done(), timeIsUp])
    await clock.pause(QUIET_MS, until)
  } while (!errands.isIdle() && !until.aborted)
  late.abort()
}

function sample(nodes: readonly SimulatedNode[]): readonly SimulatedNode[] {
  const step = Math.max(1, Math.floor(nodes.length / COMPARED_NODES))
  return nodes.filter((_, index) => index % step === 0).slice(0, COMPARED_NODES)
}

/**
 * Compares what an agent knows by events with what a pull shows. What differs may still be on its way and is waited for;
 * so is what changes meanwhile, as endpoints do that nobody reports any more: only what differs in the same way all the
 * time is not known.
 */
async function comparePeers(deps: MeshAgentDeps, node: SimulatedNode, betweenMs: number): Promise<void> {
  const { clock, statistics, until } = deps
  let lasting: readonly PeerDifference[] | undefined
  for (let times = 1; ; times += 1) {
    if (node.pulling.state !== 'idle') return statistics.count('unsettled')
    const pulled = await pulledWhole(deps, node)
    if (pulled === undefined) return undefined
    const differing = differences(node, pulled)
    lasting = lasting === undefined ? differing : lastingOf(lasting, differing)
    if (lasting.length === 0) return undefined
    if (times === COMPARED_TIMES) return statistics.count('stale_peers', lasting.length)
    await clock.pause(betweenMs, until)
    if (until.aborted) return statistics.count('unsettled')
  }
}

async function pulledWhole(deps: MeshAgentDeps, node: SimulatedNode): Promise<PeerView | undefined> {
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.mesh.pull({ nodeId, nsk, etag: undefined }),
  })
  if (!outcome.ok || outcome.value === undefined) return undefined
  const { read } = outcome.value
  if (read.ok) return createPeerView(deps.mesh.book, read.snapshot.peers)
  deps.statistics.count('bad_snapshots')
  return undefined
}

/** Peers that are known otherwise, or on one side only. */
function differences({ view }: SimulatedNode, pulled: PeerView): readonly PeerDifference[] {
  return view === undefined ? [] : pulled.differing(view)
}

/** Those of before that are there still. The book keeps facts once, so that the same ones are one object. */
function lastingOf(before: readonly PeerDifference[], now: readonly PeerDifference[]): readonly PeerDifference[] {
  const found = new Map(now.map((one) => [nameOf(one), one]))
  return before.filter((one) => {
    const same = found.get(nameOf(one))
    return same !== undefined && same.own === one.own && same.other === one.other
  })
}

const nameOf = ({ own, other }: PeerDifference): string => own?.node_id ?? other?.node_id ?? ''

/** Looks whether the ends of each edge have the same epoch. */
function compareEdges({ statistics, mesh }: MeshAgentDeps, nodes: readonly SimulatedNode[]): void {
  statistics.count('stale_edges', mesh.ledger.standing().stale)
  const settled = nodes.filter(({ pulling, isRotating }) => pulling.state === 'idle' && !isRotating)
  statistics.count('unsettled', nodes.length - settled.length)
  if (nodes.length > COMPARED_WITH_ALL) return
  for (const { view, place } of settled) {
    for (const { identity, place: other } of settled) {
      const { node_id, psk_issued_at: own } = identity
      if (other !== place && own !== undefined && view?.find(node_id)?.psk_issued_at !== own)
        statistics.count('stale_edges')
    }
  }
}
