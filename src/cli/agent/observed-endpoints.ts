import { attempt } from '../../client/agent/calls/attempt.ts'
import type { AgentDeps } from '../../client/agent/agent-deps.ts'
import type { AgentCore } from './agent-core.ts'
import type { Machine } from './machine.ts'
import { isWorking } from './tunnel/plan-tunnel.ts'

/** How many observations one report has at most. */
const OBSERVED_MAX = 64
/** Well before the shortest lifetime of an observation is over (S0 Limits: endpoint TTL). */
const AGAIN_MS = 120_000

/** What the reports need. */
export interface ObservedDeps {
  readonly core: Pick<AgentCore, 'clock' | 'member' | 'ending'>
  readonly machine: Pick<Machine, 'device' | 'applier'>
  readonly deps: AgentDeps
}

/**
 * Makes what reports where the tunnel sees its peers, when that has changed and well before it is stale. A server without that
 * operation is not asked again.
 */
export function createObservedReporter(routines: ObservedDeps): () => Promise<void> {
  const { core, deps } = routines
  let reported: ReadonlyMap<string, string> = new Map()
  let wholeMs = -Infinity
  return async () => {
    if (deps.notProvisioned.has('observed_endpoints')) return
    const seen = await seenPeers(routines)
    const isWhole = core.clock.now() - wholeMs >= AGAIN_MS
    const changed = [...seen].filter(([peerId, endpoint]) => isWhole || reported.get(peerId) !== endpoint)
    if (changed.length === 0 || core.ending.signal.aborted || !(await report(routines, changed))) return
    reported = seen
    if (isWhole) wholeMs = core.clock.now()
  }
}

async function seenPeers({ core, machine }: ObservedDeps): Promise<ReadonlyMap<string, string>> {
  const { peers } = await machine.device.status()
  const ids = new Map(machine.applier.accepted().peers.map(({ public_key: key, node_id: id }) => [key, id]))
  const working = peers.filter((peer) => isWorking(peer, core.clock.now()))
  return new Map(
    working.flatMap(({ publicKey, endpoint }): readonly [string, string][] => {
      const id = ids.get(publicKey)
      return id === undefined || endpoint === undefined ? [] : [[id, endpoint]]
    }),
  )
}

async function report({ core, deps }: ObservedDeps, changed: readonly (readonly [string, string])[]): Promise<boolean> {
  const { member, clock } = core
  for (let from = 0; from < changed.length; from += OBSERVED_MAX) {
    const observed = changed
      .slice(from, from + OBSERVED_MAX)
      .map(([peer_node_id, endpoint]) => ({ peer_node_id, endpoint }))
    const body = { observed, reported_at: new Date(clock.now()).toISOString() }
    const outcome = await attempt(deps, member, {
      operation: 'observed_endpoints',
      isRepeatable: true,
      toleratedCodes: ['not_found'],
      call: (token) => deps.client.PutNodeObservedEndpoints({ id: member.identity.node_id, body }, { token }),
    })
    if (!outcome.ok && outcome.code === 'not_found') deps.notProvisioned.add('observed_endpoints')
    if (!outcome.ok) return false
  }
  return true
}
