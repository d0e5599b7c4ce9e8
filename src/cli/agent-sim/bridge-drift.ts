import type { ReadBridge } from '../../client/agent/bridges/own-bridges.ts'
import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { fetchSecret } from '../../client/agent/bridges/bridge-secrets.ts'
import type { MadeBridges } from './made-bridges.ts'
import { runConcurrently } from './run-concurrently.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { Snapshot } from '../../client/agent/state/snapshot.ts'

/** Number of comparisons of a host, because the last event or hint may be delayed. */
const TIMES = 10
const BETWEEN_MS = 1_000
const CONCURRENCY = 8

/** How a host is compared. */
export interface Comparing {
  /** The server's state of a node; undefined where it could not be pulled. */
  readonly pull: (node: SimulatedNode) => Promise<Snapshot | undefined>
  readonly made: Pick<MadeBridges, 'behind'>
  /** Takes a node whose state could not be pulled for the comparison. */
  readonly notPulled: (node: SimulatedNode) => void
  readonly interrupted: AbortSignal
}

/**
 * Compares what each host runs with the server's state: the configuration of each bridge, and the newest version of each
 * secret that it names. Counts the hosts that differ lastingly as `bridge_drift`, and configurations that their events
 * brought in another form than the pull as `bad_bridge_configs`.
 */
export async function compareBridges(
  deps: MeshAgentDeps,
  nodes: readonly SimulatedNode[],
  comparing: Comparing,
): Promise<void> {
  const hosts = nodes.filter((node) => isHost(deps, node))
  const behind = new Set<string>()
  await runConcurrently(hosts, { concurrency: CONCURRENCY, until: comparing.interrupted }, async (node) => {
    if (await isLastinglyBehind(deps, node, comparing)) behind.add(node.identity.node_id)
  })
  for (const nodeId of await behindForServer(deps, comparing)) behind.add(nodeId)
  deps.statistics.count('bridge_drift', behind.size)
}

/** The hosts of the simulator's bridges that the server lastingly shows as behind. */
async function behindForServer(
  { clock }: MeshAgentDeps,
  { made, interrupted }: Comparing,
): Promise<ReadonlySet<string>> {
  let behind = await made.behind()
  for (let times = 1; times < TIMES && behind.size > 0 && !interrupted.aborted; times += 1) {
    await clock.pause(BETWEEN_MS, interrupted)
    behind = await made.behind()
  }
  return behind
}

function isHost({ mesh }: MeshAgentDeps, node: SimulatedNode): boolean {
  if (node.isRevoked) return false
  return node.hosted.size > 0 || (node.bridges?.list() ?? []).length > 0 || mesh.isMadeHost(node.identity.node_id)
}

async function isLastinglyBehind(
  deps: MeshAgentDeps,
  node: SimulatedNode,
  { pull, notPulled, interrupted }: Comparing,
): Promise<boolean> {
  const { statistics, clock } = deps
  for (let times = 1; ; times += 1) {
    const pulled = interrupted.aborted ? undefined : await pull(node)
    if (pulled === undefined) {
      notPulled(node)
      return false
    }
    const { isBehind, otherConfigs } = await driftOf(deps, node, pulled)
    if (!isBehind) return false
    if (times === TIMES) {
      statistics.count('bad_bridge_configs', otherConfigs)
      return true
    }
    await clock.pause(BETWEEN_MS, interrupted)
  }
}

interface HostDrift {
  readonly isBehind: boolean
  /** Number of configurations that the host knows in another form than the pull. */
  readonly otherConfigs: number
}

async function driftOf(deps: MeshAgentDeps, node: SimulatedNode, { bridges: text }: Snapshot): Promise<HostDrift> {
  const given = deps.mesh.bridges.given(text)
  const wanted = given.map((one) => ({ id: one.bridge_resource_id, bridge: deps.mesh.bridges.read(one) }))
  const ids = new Set(wanted.map(({ id }) => id))
  const others = wanted.filter(({ id, bridge }) => node.bridges?.find(id)?.config !== bridge?.config)
  let isBehind = others.length > 0 || [...node.hosted.keys()].some((id) => !ids.has(id))
  for (const { bridge } of wanted) isBehind ||= bridge === undefined || !(await runs(deps, node, bridge))
  return { isBehind, otherConfigs: others.length }
}

/** Whether the node runs the configuration with the newest version of each secret that it names. */
async function runs(deps: MeshAgentDeps, node: SimulatedNode, bridge: ReadBridge): Promise<boolean> {
  const hosted = node.hosted.get(bridge.resourceId)
  if (hosted === undefined || hosted.error !== undefined || hosted.fingerprint !== bridge.fingerprint) return false
  for (const ref of bridge.secretRefs) {
    const secret = await fetchSecret(deps, node, ref)
    if ('code' in secret || secret.version !== hosted.secrets.get(ref)?.version) return false
  }
  return true
}
