import type { Outcome } from '../outcome.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'

/** A report that replaces the node's former one of that name. */
export interface Report {
  readonly name: string
  /** Sends what is to be reported now, with `isDeferred`. */
  readonly send: () => Promise<Outcome<unknown>>
}

/**
 * Sends a report. Where the Domain reports too much, it is kept, and sent after the time that the server asks for; until then the
 * node sends no report, and of two of one name only the newer one is kept. Resolves with whether it was taken or kept.
 */
export async function sendReport(deps: AgentDeps, node: SimulatedNode, { name, send }: Report): Promise<boolean> {
  if (deps.clock.now() < node.deferredUntilMs) {
    node.deferred.set(name, send)
    return true
  }
  const outcome = await send()
  if (outcome.ok || outcome.waitMs === undefined) return outcome.ok
  // A newer one of that name may have been kept meanwhile.
  if (!node.deferred.has(name)) node.deferred.set(name, send)
  node.deferredUntilMs = Math.max(node.deferredUntilMs, deps.clock.now() + outcome.waitMs)
  deps.tasks.schedule(outcome.waitMs, () => sendDeferred(deps, node))
  return true
}

/** Sends what was kept, unless the server has asked for more time meanwhile: then it is sent after that. */
async function sendDeferred(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  if (deps.until.aborted || node.isRevoked || deps.clock.now() < node.deferredUntilMs) return
  const kept = [...node.deferred]
  node.deferred.clear()
  for (const [name, send] of kept) await sendReport(deps, node, { name, send })
}
