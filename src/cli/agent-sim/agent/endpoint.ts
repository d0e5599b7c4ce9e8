import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

const NAT_TYPES = ['cone', 'restricted', 'port_restricted', 'symmetric', 'unknown'] as const
/** The part of its life after which an endpoint is reported again, and how much sooner at most. */
const REPORTED_AGAIN_AFTER = 0.6
const JITTER = 0.2
/** Where the server has not said how long an endpoint lives (S0 Limits: endpoint TTL). */
const LIFE_MS = 300_000
/** What a server bears of clocks that differ (S0 Limits). */
const SKEW_MS_MAX = 60_000
/** The first port that no service has for its own. */
const PORT_MIN = 1024

/** Reports the node's endpoint, and again before it would be stale, until the signal. */
export async function keepEndpoint(deps: AgentDeps, node: SimulatedNode, until: AbortSignal): Promise<void> {
  const { clock, wheel, errands } = deps
  const lifeMs = (await reportEndpoint(deps, node)) ?? LIFE_MS
  const pauseMs = lifeMs * (REPORTED_AGAIN_AFTER - JITTER * clock.random())
  wheel.after(pauseMs, () => {
    if (!until.aborted) errands.begin(keepEndpoint(deps, node, until))
  })
}

/** Reports it under another port, now and then another address, as after a NAT rebinding. */
export async function changeEndpoint(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  node.endpoint = rebound(node.endpoint, () => deps.clock.random())
  deps.statistics.count('endpoint_changes')
  await reportEndpoint(deps, node)
}

/** Resolves with how long it is good for, in ms; undefined where it was not taken. */
async function reportEndpoint(deps: AgentDeps, node: SimulatedNode): Promise<number | undefined> {
  let lifeMs: number | undefined
  await injectDuplicates(node, async (olderMs) => {
    lifeMs = (await putEndpoint(deps, node, olderMs)) ?? lifeMs
  })
  return lifeMs
}

async function putEndpoint(deps: AgentDeps, node: SimulatedNode, olderMs: number): Promise<number | undefined> {
  const { client, clock } = deps
  const { endpoint, place } = node
  const { skewMs } = node.faults
  const reported_at = new Date(clock.now() + skewMs - olderMs).toISOString()
  const body = { endpoint, nat_type: NAT_TYPES[place % NAT_TYPES.length] ?? 'unknown', reported_at }
  const outcome = await attempt(deps, node, {
    operation: 'endpoint',
    isRepeatable: true,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'endpoint_clock_skew' }),
    call: (token) => client.PutNodeEndpoint({ id: node.identity.node_id, body }, { token }),
  })
  if (!outcome.ok) return undefined
  return Date.parse(outcome.value.stale_after) - Date.parse(outcome.value.accepted_at)
}

/** One change in eight is of the address: the node has moved to another network. */
function rebound(endpoint: string, random: () => number): string {
  const [address = ''] = endpoint.split(':')
  const port = PORT_MIN + Math.floor(random() * (65_536 - PORT_MIN))
  if (random() >= 1 / 8) return `${address}:${port}`
  const byte = (): number => Math.floor(random() * 256)
  return `198.${18 + Math.floor(random() * 2)}.${byte()}.${byte()}:${port}`
}
