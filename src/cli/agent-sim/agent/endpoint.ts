import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { SimulatedDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

const NAT_TYPES = ['cone', 'restricted', 'port_restricted', 'symmetric', 'unknown'] as const
/** Part of its lifetime after which an endpoint is reported again, and the maximum reduction by jitter. */
const REPORTED_AGAIN_AFTER = 0.6
const JITTER = 0.2
/** Default lifetime of an endpoint (S0 Limits: endpoint TTL). */
const LIFETIME_MS = 300_000
/** Clock difference that the server accepts (S0 Limits). */
const SKEW_MS_MAX = 60_000
/** The lowest port that is not reserved for system services. */
const PORT_MIN = 1024

/** Reports the node's endpoint, and again before it expires, until the signal is aborted. */
export async function keepEndpoint(deps: SimulatedDeps, node: SimulatedNode, until: AbortSignal): Promise<void> {
  const { clock, wheel, tasks } = deps
  const lifetimeMs = (await reportEndpoint(deps, node)) ?? LIFETIME_MS
  const pauseMs = lifetimeMs * (REPORTED_AGAIN_AFTER - JITTER * clock.random())
  wheel.after(pauseMs, () => {
    if (!until.aborted) tasks.track(keepEndpoint(deps, node, until))
  })
}

/** Changes the endpoint as a NAT rebinding does, and reports it. */
export async function changeEndpoint(deps: SimulatedDeps, node: SimulatedNode): Promise<void> {
  node.endpoint = rebound(node.endpoint, () => deps.clock.random())
  deps.statistics.count('endpoint_changes')
  await reportEndpoint(deps, node)
}

/** Resolves with the lifetime of the endpoint, in ms; undefined if the server refused it. */
async function reportEndpoint(deps: SimulatedDeps, node: SimulatedNode): Promise<number | undefined> {
  let lifetimeMs: number | undefined
  await injectDuplicates(node, async (olderMs) => {
    lifetimeMs = (await putEndpoint(deps, node, olderMs)) ?? lifetimeMs
  })
  return lifetimeMs
}

async function putEndpoint(deps: SimulatedDeps, node: SimulatedNode, olderMs: number): Promise<number | undefined> {
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

/** A new port; in one of eight cases also a new address, as in another network. */
function rebound(endpoint: string, random: () => number): string {
  const [address = ''] = endpoint.split(':')
  const port = PORT_MIN + Math.floor(random() * (65_536 - PORT_MIN))
  if (random() >= 1 / 8) return `${address}:${port}`
  const byte = (): number => Math.floor(random() * 256)
  return `198.${18 + Math.floor(random() * 2)}.${byte()}.${byte()}:${port}`
}
