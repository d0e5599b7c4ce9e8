import { RETRYABLE } from './attempt.ts'
import type { Outcome } from './outcome.ts'
import type { Member } from '../member.ts'
import type { AgentDeps } from '../agent-deps.ts'

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
export async function sendReport(deps: AgentDeps, node: Member, { name, send }: Report): Promise<boolean> {
  if (node.deferred.size > 0 || deps.clock.now() < node.deferredUntilMs) {
    node.deferred.set(name, send)
    return true
  }
  const outcome = await send()
  if (outcome.ok || outcome.waitMs === undefined) return outcome.ok
  // A newer one of that name may have been kept meanwhile.
  if (!node.deferred.has(name)) node.deferred.set(name, send)
  wait(deps, node, outcome.waitMs)
  return true
}

/** Sends what is kept when the wait is over, unless the server has asked for more time by then. */
function wait(deps: AgentDeps, node: Member, waitMs: number): void {
  const untilMs = deps.clock.now() + waitMs
  if (untilMs <= node.deferredUntilMs) return
  node.deferredUntilMs = untilMs
  deps.tasks.schedule(waitMs, async () => {
    // The clock does not say whether the wait is over: it may have been set, and a timer may be early by a millisecond.
    if (node.deferredUntilMs !== untilMs) return
    node.deferredUntilMs = 0
    await sendDeferred(deps, node)
  })
}

/** Pause after a try that a server which is away for now did not answer. */
const AWAY_MS = 5_000

/** Undefined: the report was answered. What reported it does not send it again. */
function waitAfter(outcome: Outcome<unknown>): number | undefined {
  if (outcome.ok) return undefined
  return outcome.waitMs ?? (RETRYABLE.has(outcome.code) ? AWAY_MS : undefined)
}

/** A report stays kept until it is answered: one that is deleted meanwhile may then be unknown to the server. */
async function sendDeferred(deps: AgentDeps, node: Member): Promise<void> {
  for (let next = firstOf(node); next !== undefined; next = firstOf(node)) {
    const [name, send] = next
    if (deps.until.aborted || node.isRevoked) return
    const outcome = await send()
    const waitMs = waitAfter(outcome)
    if (waitMs !== undefined) return wait(deps, node, waitMs)
    // One that took its place while it was sent is kept like any other, and sent next.
    if (node.deferred.get(name) === send) node.deferred.delete(name)
  }
}

function firstOf(node: Member): readonly [string, Report['send']] | undefined {
  const [first] = node.deferred
  return first
}
