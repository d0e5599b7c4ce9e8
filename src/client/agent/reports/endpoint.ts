import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import type { Member } from '../member.ts'

/** Part of its lifetime after which an endpoint is reported again, and the maximum reduction by jitter (agent protocol: Endpoint). */
const AGAIN_AFTER = 0.5
const JITTER = 0.1
/** Pause after a report that was not taken. */
const FAILED_MS = 30_000

/** Where a node is seen from outside. */
export interface ObservedEndpoint {
  /** `address:port`. */
  readonly endpoint: string
  readonly natType: 'cone' | 'restricted' | 'port_restricted' | 'symmetric' | 'unknown'
  /** When it was observed, by the node's clock. */
  readonly observedMs: number
  /** The code with which the server must refuse it, because of an injected fault. */
  readonly expects?: string
}

/** Reports an endpoint. Resolves with its lifetime, in ms; undefined if it was not taken. */
export async function sendEndpoint(
  deps: AgentDeps,
  node: Member,
  { endpoint, natType, observedMs, expects }: ObservedEndpoint,
): Promise<number | undefined> {
  const body = { endpoint, nat_type: natType, reported_at: new Date(observedMs).toISOString() }
  const outcome = await attempt(deps, node, {
    operation: 'endpoint',
    isRepeatable: true,
    ...(expects !== undefined && { expects }),
    call: (token) => deps.client.PutNodeEndpoint({ id: node.identity.node_id, body }, { token }),
  })
  if (!outcome.ok) return undefined
  return Date.parse(outcome.value.stale_after) - Date.parse(outcome.value.accepted_at)
}

/** When endpoints are reported, and how. */
export interface EndpointSchedule {
  /** Reports the present endpoint. Resolves with its lifetime, in ms; undefined if it was not taken. */
  readonly report: () => Promise<number | undefined>
  readonly until: AbortSignal
}

/** Reports the endpoint now, and again at about half of its lifetime, until the signal is aborted. */
export async function keepEndpoint(deps: AgentDeps, { report, until }: EndpointSchedule): Promise<void> {
  const { clock, wheel, tasks } = deps
  const lifetimeMs = await report()
  const pauseMs = lifetimeMs === undefined ? FAILED_MS : lifetimeMs * (AGAIN_AFTER - JITTER * clock.random())
  wheel.after(pauseMs, () => {
    if (!until.aborted) tasks.track(keepEndpoint(deps, { report, until }))
  })
}
