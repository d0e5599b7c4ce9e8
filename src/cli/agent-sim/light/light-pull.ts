import { attempt } from '../../../client/agent/calls/attempt.ts'
import { backoffMs } from '../../../client/agent/calls/backoff.ts'
import { isFinalRefusal } from '../../../client/agent/calls/final-refusal.ts'
import type { PacedLimiter } from '../../../client/agent/calls/paced-limiter.ts'
import type { CallingDeps } from '../agent/agent-deps.ts'
import type { LightNode } from './light-node.ts'
import type { LightWire } from './light-wire.ts'

export interface LightDeps extends CallingDeps {
  readonly light: LightWire
  readonly pulls: PacedLimiter
}

/** Maximum random delay of another pull after one during which events asked for it. */
const AGAIN_WITHIN_MS = 1_000

/** Schedules a pull after a random delay of up to `withinMs`. Further requests are merged into it. */
export function pullLightlySoon(deps: LightDeps, node: LightNode, withinMs: number): void {
  if (node.pulling === 'running') node.pulling = 'again'
  if (node.pulling !== 'idle') return
  node.pulling = 'due'
  deps.tasks.schedule(deps.clock.random() * withinMs, () => deps.pulls(deps.until, () => pull(deps, node)))
}

async function pull(deps: LightDeps, node: LightNode): Promise<void> {
  node.pulling = 'running'
  const { etag, identity } = node
  const sentMs = performance.now()
  const outcome = await attempt(deps, node, {
    operation: 'state_pull',
    isRepeatable: true,
    call: (nsk) => deps.light.pull({ nodeId: identity.node_id, nsk, etag }),
  })
  const isAgain = node.pulling.valueOf() === 'again'
  node.pulling = 'idle'
  if (!outcome.ok) return repeatLater(deps, node, outcome)
  takeState(deps, node, { state: outcome.value, sentMs, wasTagged: etag })
  if (isAgain) pullLightlySoon(deps, node, AGAIN_WITHIN_MS)
}

interface Taken {
  /** Undefined: unchanged. */
  readonly state: Awaited<ReturnType<LightWire['pull']>>
  readonly sentMs: number
  readonly wasTagged: string | undefined
}

function takeState({ statistics }: LightDeps, node: LightNode, { state, sentMs, wasTagged }: Taken): void {
  if (state === undefined) statistics.count('not_modified')
  else {
    statistics.count('pulled_bytes', state.bytes)
    // An event that came during the pull has removed the tag, which may name a state without it.
    if (node.etag === wasTagged) node.etag = state.etag
  }
  if (state?.isDegraded === true) return statistics.count('degraded_pulls')
  return node.domain.ledger.pulled(node.member, sentMs, performance.now())
}

function repeatLater(
  deps: LightDeps,
  node: LightNode,
  { code, waitMs }: { readonly code: string; readonly waitMs?: number | undefined },
): void {
  if (isFinalRefusal(code)) return
  pullLightlySoon(deps, node, waitMs ?? backoffMs(deps.clock, 1))
}
