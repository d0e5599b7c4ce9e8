import { keepEndpoint, sendEndpoint } from '../../../client/agent/reports/endpoint.ts'
import type { FleetNode } from '../simulated-node.ts'
import type { CallingDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

const NAT_TYPES = ['cone', 'restricted', 'port_restricted', 'symmetric', 'unknown'] as const
/** Clock difference that the server accepts (S0 Limits). */
const SKEW_MS_MAX = 60_000
/** The lowest port that is not reserved for system services. */
const PORT_MIN = 1024

/** Reports the node's endpoint, and again before it expires, until the signal is aborted. */
export async function keepOwnEndpoint(deps: CallingDeps, node: FleetNode, until: AbortSignal): Promise<void> {
  await keepEndpoint(deps, { report: () => reportEndpoint(deps, node), until })
}

/** Changes the endpoint as a NAT rebinding does, and reports it. */
export async function changeEndpoint(deps: CallingDeps, node: FleetNode): Promise<void> {
  rebind(deps, node)
  await reportEndpoint(deps, node)
}

/** Gives the node another endpoint, as a NAT rebinding does. It is to be reported. */
export function rebind(deps: CallingDeps, node: FleetNode): void {
  node.endpoint = rebound(node.endpoint, () => deps.clock.random())
  deps.statistics.count('endpoint_changes')
}

/** Resolves with the lifetime of the endpoint, in ms; undefined if the server refused it. */
export async function reportEndpoint(deps: CallingDeps, node: FleetNode): Promise<number | undefined> {
  let lifetimeMs: number | undefined
  await injectDuplicates(node, async (olderMs) => {
    lifetimeMs = (await putEndpoint(deps, node, olderMs)) ?? lifetimeMs
  })
  return lifetimeMs
}

function putEndpoint(deps: CallingDeps, node: FleetNode, olderMs: number): Promise<number | undefined> {
  const { skewMs } = node.faults
  return sendEndpoint(deps, node, {
    endpoint: node.endpoint,
    natType: NAT_TYPES[node.place % NAT_TYPES.length] ?? 'unknown',
    observedMs: deps.clock.now() + skewMs - olderMs,
    ...(Math.abs(skewMs) > SKEW_MS_MAX && { expects: 'endpoint_clock_skew' }),
  })
}

/** A new port; in one of eight cases also a new address, as in another network. */
function rebound(endpoint: string, random: () => number): string {
  const [address = ''] = endpoint.split(':')
  const port = PORT_MIN + Math.floor(random() * (65_536 - PORT_MIN))
  if (random() >= 1 / 8) return `${address}:${port}`
  const byte = (): number => Math.floor(random() * 256)
  return `198.${18 + Math.floor(random() * 2)}.${byte()}.${byte()}:${port}`
}
