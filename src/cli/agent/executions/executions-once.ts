import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import { runExecution, type Callback, type End, type Performer } from '../../../client/agent/executions/execution.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import { reasonOf } from '../errors.ts'
import type { RealMember } from '../real-member.ts'
import type { TakenExecution } from '../state/agent-state.ts'
import { failed, performBuiltin, type BuiltinPorts } from './builtins.ts'

/** What executions need. */
export interface ExecutionDeps {
  readonly agent: AgentDeps
  readonly ports: BuiltinPorts
  /** Runs a hook; it is killed when the signal is aborted. */
  readonly runHook: (execution: PulledExecution, signal: AbortSignal) => Promise<End>
  readonly save: () => Promise<void>
  readonly log: (line: string) => void
}

const STAGE_OF: Readonly<Record<Callback['status'], TakenExecution['stage']>> = {
  ack: 'taken',
  started: 'begun',
  succeeded: 'ended',
  failed: 'ended',
  cancelled: 'ended',
}

/**
 * Carries out an execution once, also over restarts: each step is on disk before the server learns of it. One that an earlier run of
 * the agent began is reported as failed, because what it has done is not known.
 */
export function executeOnce(deps: ExecutionDeps, member: RealMember, execution: PulledExecution): void {
  const { execution_id: id, expires_at: expiresAt } = execution
  const isLate = Date.parse(expiresAt) <= deps.agent.clock.now()
  if (isLate || member.seen.has(id)) return
  const isBegunBefore = ['begun', 'ended'].includes(member.executions.get(id)?.stage ?? '')
  deps.log(`execution ${id}: ${execution.action}${isBegunBefore ? ', begun before the agent was restarted' : ''}`)
  const performer: Performer<RealMember> = {
    perform: () =>
      isBegunBefore
        ? Promise.resolve(failed('the agent was restarted while it was carried out'))
        : perform(deps, member, execution),
    async report(node, body, send) {
      // A begun one stays begun, so that a second restart does not carry it out.
      if (!(isBegunBefore && body.status === 'ack'))
        node.executions.set(id, { stage: STAGE_OF[body.status], expires_at: expiresAt })
      await deps.save()
      return send(body)
    },
  }
  runExecution(deps.agent, member, { execution, performer })
}

/** Carries an action out. What goes wrong in it ends the execution, and not the agent. */
async function perform(deps: ExecutionDeps, member: RealMember, execution: PulledExecution): Promise<End> {
  try {
    if (execution.type !== 'hook') return await performBuiltin(deps.ports, execution)
    return await performHook(deps, member, execution)
  } catch (error) {
    const reason = reasonOf(error)
    deps.log(`execution ${execution.execution_id}: ${execution.action} failed: ${reason}`)
    return failed(reason)
  }
}

async function performHook(deps: ExecutionDeps, { cancels }: RealMember, execution: PulledExecution): Promise<End> {
  const cancel = new AbortController()
  cancels.set(execution.execution_id, cancel)
  try {
    return await deps.runHook(execution, AbortSignal.any([cancel.signal, deps.agent.until]))
  } finally {
    cancels.delete(execution.execution_id)
  }
}

/** Stops hooks whose executions have ended for the server, and forgets what has ended for both. */
export function forgetEnded({ executions, cancels }: RealMember, liveIds: ReadonlySet<string>): void {
  for (const [id, cancel] of cancels) if (!liveIds.has(id)) cancel.abort()
  for (const [id, { stage }] of executions) if (stage === 'ended' && !liveIds.has(id)) executions.delete(id)
}
