import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { KeyedMember } from '../member.ts'

/** Part of its lifetime after which an endpoint is reported again, and the maximum reduction by jitter (agent protocol: Endpoint). */
const AGAIN_AFTER = 0.5
const JITTER = 0.1
/** Pause after a report that was not taken. */
const FAILED_MS = 30_000

/** Where a node is seen from outside. */
export interface ObservedEndpoint {
  /** `address:port`. */
  readonly endpoint: string
  /** Further addresses, `address:port`, at most 8. */
  readonly candidates?: readonly string[]
  readonly natType: 'cone' | 'restricted' | 'port_restricted' | 'symmetric' | 'unknown'
  /** When it was observed, by the node's clock. */
  readonly observedMs: number
  /** The code with which the server must refuse it, because of an injected fault. */
  readonly expects?: string
}

/** Reports an endpoint, and without its candidates where they are refused. Resolves with its lifetime, in ms; undefined if it was not taken. */
export async function sendEndpoint(
  deps: AgentDeps,
  node: KeyedMember,
  { candidates = [], ...observed }: ObservedEndpoint,
): Promise<number | undefined> {
  if (candidates.length === 0) return lifetimeOf(await send(deps, node, observed))
  const outcome = await send(deps, node, { ...observed, candidates })
  // An older server knows no candidates, and one that refuses these still takes the endpoint.
  const isRefused = !outcome.ok && CANDIDATES_REFUSED.includes(outcome.code)
  return lifetimeOf(isRefused ? await send(deps, node, observed) : outcome)
}

const CANDIDATES_REFUSED: readonly string[] = ['invalid_body', 'endpoint_unparseable']

type Call = Outcome<Awaited<ReturnType<AgentDeps['client']['PutNodeEndpoint']>>>

function send(deps: AgentDeps, node: KeyedMember, observed: ObservedEndpoint): Promise<Call> {
  const { endpoint, candidates, natType, observedMs, expects } = observed
  const report = { endpoint, nat_type: natType, reported_at: new Date(observedMs).toISOString() }
  const body = candidates === undefined ? report : { ...report, candidates: [...candidates] }
  return attempt(deps, node, {
    operation: 'endpoint',
    isRepeatable: true,
    ...(candidates !== undefined && { toleratedCodes: CANDIDATES_REFUSED }),
    ...(expects !== undefined && { expects }),
    call: (token) => deps.client.PutNodeEndpoint({ id: node.identity.node_id, body }, { token }),
  })
}

function lifetimeOf(outcome: Call): number | undefined {
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
