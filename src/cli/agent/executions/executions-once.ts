import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import { runExecution, type Callback, type End, type Performer } from '../../../client/agent/executions/execution.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import { reasonOf } from '../errors.ts'
import type { RealMember } from '../real-member.ts'
import type { TakenExecution } from '../state/agent-state.ts'
import { isOver, type Upgrades } from '../upgrade/upgrades.ts'
import { failed, performBuiltin, type BuiltinPorts } from './builtins.ts'

/** What executions need. */
export interface ExecutionDeps {
  readonly agent: AgentDeps
  readonly ports: BuiltinPorts
  /** Runs a hook; it is killed when the signal is aborted. */
  readonly runHook: (execution: PulledExecution, signal: AbortSignal) => Promise<End>
  readonly upgrades: Upgrades
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
    perform: () => (isBegunBefore ? outcomeOf(deps, id) : perform(deps, member, execution)),
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

/** How one that an earlier run of the agent began has ended. An upgrade goes on over the restart that it needs. */
async function outcomeOf({ upgrades }: ExecutionDeps, id: string): Promise<End | undefined> {
  if (upgrades.isBegun(id)) return upgrades.outcome()
  return failed('the agent was restarted while it was carried out')
}

const UPGRADE = 'upgrade_agent'

/** Carries an action out. What goes wrong in it ends the execution, and not the agent. */
async function perform(deps: ExecutionDeps, member: RealMember, execution: PulledExecution): Promise<End | undefined> {
  try {
    if (execution.type === 'hook')
      return await untilCancelled(deps, member, { execution, run: (signal) => deps.runHook(execution, signal) })
    if (execution.action !== UPGRADE) return await performBuiltin(deps.ports, execution)
    const run = (signal: AbortSignal) => deps.upgrades.perform(execution, signal)
    return await untilCancelled(deps, member, { execution, run })
  } catch (error) {
    const reason = reasonOf(error)
    deps.log(`execution ${execution.execution_id}: ${execution.action} failed: ${reason}`)
    return failed(reason)
  }
}

interface Cancellable {
  readonly execution: PulledExecution
  readonly run: (signal: AbortSignal) => Promise<End | undefined>
}

/** Runs what ends with the execution, or with the agent. */
async function untilCancelled(
  deps: ExecutionDeps,
  { cancels }: RealMember,
  { execution, run }: Cancellable,
): Promise<End | undefined> {
  const cancel = new AbortController()
  cancels.set(execution.execution_id, cancel)
  try {
    return await run(AbortSignal.any([cancel.signal, deps.agent.until]))
  } finally {
    cancels.delete(execution.execution_id)
  }
}

/** Stops hooks whose executions have ended for the server, and forgets what has ended for both. */
export function forgetEnded(member: RealMember, liveIds: ReadonlySet<string>): void {
  const { executions, cancels, upgrade } = member
  for (const [id, cancel] of cancels) if (!liveIds.has(id)) cancel.abort()
  for (const [id, { stage }] of executions) if (stage === 'ended' && !liveIds.has(id)) executions.delete(id)
  if (upgrade !== undefined && isOver(upgrade) && !liveIds.has(upgrade.execution_id)) member.upgrade = undefined
}
