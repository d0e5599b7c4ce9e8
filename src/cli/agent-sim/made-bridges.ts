import { attempt, OUTAGE } from '../../client/agent/calls/attempt.ts'
import type { MeshAgentDeps } from './agent/agent-deps.ts'
import { BRIDGE_CHANGES, fillBridge, type MadeBridge } from './bridge-changes.ts'
import type { BridgeHabits } from './plan.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** Bridges that the simulator makes and changes with the operator's credential (`--bridges`). */
export interface MadeBridges {
  /** Number of bridges that can be changed now. */
  size(): number
  /** Makes a Project with the bridges and their secrets. A bridge that the server refuses is counted and left out. */
  create(): Promise<void>
  /** Makes the next change of a random bridge. */
  change(): Promise<void>
  /** Hosts that are not in sync in the server's view. */
  behind(): Promise<ReadonlySet<string>>
  /** Deletes the bridges, their secrets and the Project. */
  remove(): Promise<void>
}

export interface MadeBridgesOptions {
  readonly deps: MeshAgentDeps
  readonly nodes: () => readonly SimulatedNode[]
  readonly habits: BridgeHabits
  /** Ids of all nodes that have hosted a bridge. */
  readonly hosts: Set<string>
}

interface Ground {
  readonly projectId: string
  /** `secret:<domain>/<project>/`. */
  readonly refPrefix: string
}

/** Pause before a call is made again during an outage. */
const AGAIN_AFTER_MS = 1_000

/** Makes none yet. */
export function createMadeBridges({ deps, nodes, habits, hosts }: MadeBridgesOptions): MadeBridges {
  const { client, clock } = deps
  const bridges: MadeBridge[] = []
  const changing = new Set<MadeBridge>()
  let ground: Ground | undefined

  /** Calls the server; undefined if it failed, which is counted. A repeated call may find that the first one was carried out. */
  async function operate<T>(call: () => Promise<T>, toleratedCodes: readonly string[] = []): Promise<T | undefined> {
    const [node] = nodes()
    if (node === undefined) return undefined
    const terms = { operation: 'bridge_change', isRepeatable: true, toleratedCodes } as const
    for (;;) {
      const outcome = await attempt(deps, node, { ...terms, call })
      if (outcome.ok) return outcome.value
      // During an outage that the scenario expects, each call is made until it is answered: no bridge is left half-made.
      if (!deps.isOutage() || !OUTAGE.has(outcome.code) || deps.until.aborted) return undefined
      await clock.pause(AGAIN_AFTER_MS, deps.until)
    }
  }

  async function prepare(): Promise<Ground | undefined> {
    const [node] = nodes()
    if (node === undefined) return undefined
    const slug = `sim-bridges-${Math.floor(clock.random() * 36 ** 6).toString(36)}`
    const own = await operate(() => client.GetNode({ id: node.identity.node_id }))
    const domain = own && (await operate(() => client.GetDomain({ id: own.domain_id })))
    if (domain === undefined) return undefined
    const body = { slug, display_name: 'Bridges of agent-sim' }
    const project = await operate(() => client.CreateProject({ id: domain.id, body }))
    return project && { projectId: project.id, refPrefix: `secret:${domain.slug}/${slug}/` }
  }

  /** The ids of the hosts of a bridge, after it was moved that many times. */
  function hostsOf(place: number, moves: number): readonly string[] {
    const ids = nodes().map(({ identity }) => identity.node_id)
    const first = place * habits.hosts + moves
    return Array.from(
      { length: Math.min(habits.hosts, ids.length) },
      (_, index) => ids[(first + index) % ids.length] ?? '',
    )
  }

  async function createOne({ projectId, refPrefix }: Ground, place: number): Promise<void> {
    const name = `bridge-${place + 1}`
    const hostIds = hostsOf(place, 0)
    const body = { kind: 'bridge' as const, slug: name, display_name: name, host_node_ids: [...hostIds] }
    const created = await operate(() => client.CreateResource({ id: projectId, body }))
    if (created === undefined) return
    hostIds.forEach((id) => hosts.add(id))
    const bridge: MadeBridge = {
      at: { project_id: projectId, resource_id: created.id },
      secretName: name,
      secretRef: `${refPrefix}${name}`,
      targetId: nodes().at(-1)?.identity.node_id ?? '',
      turn: 0,
      hostsAfter: (moves) => hostsOf(place, moves),
      hosts,
    }
    await fillBridge({ client, operate }, bridge)
    bridges.push(bridge)
  }

  return {
    size: () => bridges.length,
    async create() {
      ground = await prepare()
      if (ground === undefined) return
      for (let place = 0; place < habits.count && !deps.until.aborted; place += 1) await createOne(ground, place)
    },
    async change() {
      const bridge = bridges[Math.floor(clock.random() * bridges.length)]
      // Changes of one bridge do not overlap, so that each is valid for the state that it finds.
      if (bridge === undefined || changing.has(bridge)) return
      changing.add(bridge)
      const change = BRIDGE_CHANGES[bridge.turn % BRIDGE_CHANGES.length]
      await change?.({ client, operate }, bridge)
      bridge.turn += 1
      deps.statistics.count('bridge_changes')
      changing.delete(bridge)
    },
    async behind() {
      const ids = new Set<string>()
      for (const { at } of bridges) {
        const status = await operate(() => client.GetBridgeStatus(at))
        for (const host of status?.hosts ?? []) if (!host.in_sync) ids.add(host.node_id)
      }
      return ids
    },
    async remove() {
      if (ground === undefined) return
      const { projectId: id } = ground
      for (const { at, secretName: name } of bridges.splice(0)) {
        await operate(() => client.DeleteResource({ id, resource_id: at.resource_id }), ['resource_not_found'])
        await operate(() => client.DeleteSecret({ id, name }), ['secret_not_found'])
      }
      await operate(() => client.DeleteProject({ id }), ['project_not_found'])
    },
  }
}
