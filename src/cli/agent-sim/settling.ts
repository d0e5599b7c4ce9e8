import type { OwnPolicies } from '../../client/agent/policies/own-policies.ts'
import { attempt } from '../../client/agent/calls/attempt.ts'
import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { compareBridges } from './bridge-drift.ts'
import { runConcurrently } from './run-concurrently.ts'
import { isSame, type PeerFacts } from '../../client/agent/peers/peer-book.ts'
import { createPeerView, type PeerDifference } from '../../client/agent/peers/peer-view.ts'
import type { MadeBridges } from './made-bridges.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { Snapshot } from '../../client/agent/state/snapshot.ts'
import type { Statistics } from './statistics.ts'
import { createUnsettledAgents, type UnsettledAgents } from './unsettled.ts'

/** Maximum wait for open tasks at the end. A stream may stay open for half a minute after its key was revoked. */
const SETTLE_MS_MAX = 35_000
/** Longer than the second for which the server merges hints. */
const QUIET_MS = 1_500
/** Number of agents whose peers are compared with a pull, and number of tries, because the last events may be delayed. */
const COMPARED_NODES = 32
const COMPARED_TIMES = 5
const BETWEEN_MS = 1_000
/** The server sends at most a thousand hints per second and Domain (docs: Scaling), so large fleets need longer pauses. */
const BETWEEN_MS_PER_NODE = 0.5
const CONCURRENCY = 8
/** Up to this size, the epochs of all pairs of agents are compared; in larger fleets only the sampled edges. */
const COMPARED_WITH_ALL = 1_000

/** What an agent knows by events differently than by a pull. `policies`: see `differing`. */
interface Comparison {
  readonly peers: readonly PeerDifference[]
  readonly policies: readonly string[]
}

/** What is compared at the end. */
interface Settled {
  readonly nodes: readonly SimulatedNode[]
  readonly bridges: Pick<MadeBridges, 'behind'>
}

/** Waits for the open tasks of the agents, then compares their state with the server's and with each other's. */
export async function settle(
  deps: MeshAgentDeps,
  { nodes, bridges }: Settled,
  interrupted: AbortSignal,
): Promise<void> {
  await untilQuiet(deps, interrupted)
  if (interrupted.aborted) return
  const unsettled = createUnsettledAgents()
  const comparable = nodes.filter((node) => node.view !== undefined && !node.isRevoked)
  await runConcurrently(sample(comparable), { concurrency: CONCURRENCY, until: interrupted }, (node) =>
    compareState(deps, node, { unsettled, betweenMs: BETWEEN_MS + BETWEEN_MS_PER_NODE * nodes.length }),
  )
  const notPulled = (node: SimulatedNode): void => unsettled.add(node, 'not_pulled')
  const pull = (node: SimulatedNode) => pulledWhole(deps, node)
  await compareBridges(deps, nodes, { pull, notPulled, made: bridges, interrupted })
  await untilQuiet(deps, interrupted)
  deps.statistics.count('unsent_reports', unsentReports(nodes))
  compareEdges(deps, comparable, unsettled)
  unsettled.countTo(deps.statistics)
}

function unsentReports(nodes: readonly SimulatedNode[]): number {
  return nodes.reduce((sum, { deferred, isRevoked }) => sum + (isRevoked ? 0 : deferred.size), 0)
}

/** Waits until no task is open and none follows within the quiet time, up to the maximum wait. */
async function untilQuiet({ clock, tasks }: MeshAgentDeps, interrupted: AbortSignal): Promise<void> {
  const timeout = new AbortController()
  const until = AbortSignal.any([timeout.signal, interrupted])
  const timedOut = clock.pause(SETTLE_MS_MAX, until).then(() => timeout.abort())
  do {
    await Promise.race([tasks.done(), timedOut])
    await clock.pause(QUIET_MS, until)
  } while (!tasks.isIdle() && !until.aborted)
  timeout.abort()
}

function sample(nodes: readonly SimulatedNode[]): readonly SimulatedNode[] {
  const step = Math.max(1, Math.floor(nodes.length / COMPARED_NODES))
  return nodes.filter((_, index) => index % step === 0).slice(0, COMPARED_NODES)
}

/**
 * Compares an agent's peers and policies, which it knows by events, with a pull, several times. Only a difference that stays the same in
 * all comparisons is counted: others come from delayed events, or from changes in between, such as endpoints that expire.
 */
async function compareState(
  deps: MeshAgentDeps,
  node: SimulatedNode,
  { unsettled, betweenMs }: { readonly unsettled: UnsettledAgents; readonly betweenMs: number },
): Promise<void> {
  const { clock, statistics, until } = deps
  let lasting: Comparison | undefined
  for (let times = 1; ; times += 1) {
    if (node.pulling.state !== 'idle') return unsettled.add(node, 'pulling')
    const pulled = await pulledWhole(deps, node)
    if (pulled === undefined) return undefined
    const found = differences(deps, node, pulled)
    lasting = lasting === undefined ? found : lastingOf(lasting, found)
    if (lasting.peers.length + lasting.policies.length === 0) return undefined
    if (times === COMPARED_TIMES) return countLasting(statistics, lasting)
    await clock.pause(betweenMs, until)
    if (until.aborted) return unsettled.add(node, 'not_pulled')
  }
}

function countLasting(statistics: Statistics, { peers, policies }: Comparison): void {
  statistics.count('stale_peers', peers.length)
  statistics.count('stale_policies', policies.length)
}

async function pulledWhole(deps: MeshAgentDeps, node: SimulatedNode): Promise<Snapshot | undefined> {
  const { node_id: nodeId } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.mesh.pull({ nodeId, nsk, etag: undefined }),
  })
  if (!outcome.ok || outcome.value === undefined) return undefined
  const { read } = outcome.value
  if (read.ok) return read.snapshot
  deps.statistics.count('bad_snapshots')
  return undefined
}

/** Peers and policies that differ, or are known on one side only. */
function differences({ mesh }: MeshAgentDeps, { view, policies }: SimulatedNode, pulled: Snapshot): Comparison {
  const peers = view === undefined ? [] : createPeerView(mesh.book, pulled.peers).differing(view)
  const given = mesh.policies.given(pulled.policies).map((policy) => [policy.policy_id, policy.revision_id] as const)
  return { peers, policies: policies === undefined ? [] : differing(policies, new Map(given)) }
}

/** The policies of which the agent has another revision than the pull, with both revisions: one text each. */
function differing(own: OwnPolicies, pulled: ReadonlyMap<string, string>): readonly string[] {
  const known = new Map(own.list().map(({ policyId, revisionId }) => [policyId, revisionId]))
  return [...new Set([...known.keys(), ...pulled.keys()])]
    .filter((policyId) => known.get(policyId) !== pulled.get(policyId))
    .map((policyId) => [policyId, known.get(policyId), pulled.get(policyId)].join(' '))
}

/** The earlier differences that still exist unchanged. */
function lastingOf(before: Comparison, now: Comparison): Comparison {
  const found = new Map(now.peers.map((one) => [nameOf(one), one]))
  const peers = before.peers.filter((one) => {
    const same = found.get(nameOf(one))
    return same !== undefined && isSameOrNone(same.own, one.own) && isSameOrNone(same.other, one.other)
  })
  return { peers, policies: before.policies.filter((key) => now.policies.includes(key)) }
}

/** The book may have freed equal facts meanwhile, so they need not be the same object. */
const isSameOrNone = (one: PeerFacts | undefined, other: PeerFacts | undefined): boolean =>
  one === other || (other !== undefined && isSame(one, other))

const nameOf = ({ own, other }: PeerDifference): string => own?.node_id ?? other?.node_id ?? ''

/** Counts edges whose ends have different epochs, and finds agents that could not be compared. */
function compareEdges(
  { statistics, mesh }: MeshAgentDeps,
  nodes: readonly SimulatedNode[],
  unsettled: UnsettledAgents,
): void {
  statistics.count('stale_edges', mesh.ledger.totals().stale)
  const settled = nodes.filter(({ pulling, isRotating }) => pulling.state === 'idle' && !isRotating)
  for (const node of nodes) {
    if (node.pulling.state !== 'idle') unsettled.add(node, 'pulling')
    else if (node.isRotating) unsettled.add(node, 'rotating')
  }
  if (nodes.length > COMPARED_WITH_ALL) return
  for (const node of settled) {
    for (const other of settled) if (other !== node && isStale(node, other)) statistics.count('stale_edges')
  }
}

/**
 * Whether the node knows another instant of the other one's key, or does not know a node that knows it. Two that do not know
 * each other have no edge: a Domain may show nodes only some of the others. A pull is compared for peers that are missing.
 */
function isStale({ view, identity }: SimulatedNode, { view: otherView, identity: other }: SimulatedNode): boolean {
  if (other.psk_issued_at === undefined) return false
  const known = view?.find(other.node_id)
  if (known !== undefined || view === undefined) return known?.psk_issued_at !== other.psk_issued_at
  return otherView?.find(identity.node_id) !== undefined
}
