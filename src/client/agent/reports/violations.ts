import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import { isOver } from '../is-over.ts'
import type { Member } from '../member.ts'

/** Agents repeat a violation while it lasts, at most once a minute (agent protocol: Integrity). */
const REPEAT_MS = 60_000

/** An integrity violation, as it is reported. */
export type Violation = Omit<
  Parameters<AgentDeps['client']['PostNodeIntegrityViolations']>[0]['body']['violations'][number],
  'detected_at'
>

/** A violation and how long it lasts. */
export interface Finding {
  readonly violation: Violation
  readonly lasts: () => boolean
  /** Called with each report that the server has taken. */
  readonly onTaken?: () => void
}

/** Reports a violation at once, and again every minute while it lasts. */
export async function reportViolation(deps: AgentDeps, node: Member, finding: Finding): Promise<void> {
  const { client, clock, wheel, tasks } = deps
  const detected_at = new Date(clock.now()).toISOString()
  const outcome = await attempt(deps, node, {
    operation: 'violations',
    isRepeatable: true,
    call: (token) =>
      client.PostNodeIntegrityViolations(
        { id: node.identity.node_id, body: { violations: [{ ...finding.violation, detected_at }] } },
        { token },
      ),
  })
  if (outcome.ok) finding.onTaken?.()
  wheel.after(REPEAT_MS, () => {
    if (!isOver(deps, node) && finding.lasts()) tasks.track(reportViolation(deps, node, finding))
  })
}
