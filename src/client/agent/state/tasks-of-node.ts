import type { ActionRequestPayload, SessionSetupPayload } from '../../../shared/events/wire-types.ts'
import type { MemberDeps } from '../agent-deps.ts'
import type { Member } from '../member.ts'
import { isPulling } from './is-pulling.ts'
import type { Snapshot } from './snapshot.ts'

/** Takes an execution that an event brought. */
export function takeExecution<M extends Member>(
  { actions }: MemberDeps<M>,
  node: M,
  execution: ActionRequestPayload,
): void {
  if (isPulling(node)) node.pulling.newExecutions.add(execution.execution_id)
  actions.execute(node, execution)
}

/** Takes a session that an event brought. */
export function takeSession<M extends Member>({ actions }: MemberDeps<M>, node: M, session: SessionSetupPayload): void {
  if (isPulling(node)) node.pulling.newSessions.add(session.session_id)
  node.liveSessions = new Map([...node.liveSessions, [session.session_id, session]])
  actions.openSession(node, session)
  actions.sessionsChanged(node)
}

/** The executions and sessions of a pull. `mayBeOlder`: than events that came before the pull. */
export type PulledTasks = Pick<Snapshot, 'executions' | 'sessions'> & { readonly mayBeOlder: boolean }

/** Takes the executions and sessions of a pull. What an event brought during the pull is live, too. */
export function applyPulledTasks<M extends Member>(
  { actions }: MemberDeps<M>,
  node: M,
  { executions, sessions, mayBeOlder }: PulledTasks,
): void {
  const { newExecutions, newSessions } = node.pulling
  for (const execution of executions) actions.execute(node, execution)
  if (!mayBeOlder)
    actions.executionsGone(node, new Set([...executions.map(({ execution_id: id }) => id), ...newExecutions]))
  const before = node.liveSessions
  const kept = [...before].filter(([id]) => mayBeOlder || newSessions.has(id))
  const live = new Map([...kept, ...sessions.map((session) => [session.session_id, session] as const)])
  const isSame = live.size === before.size && [...live.keys()].every((id) => before.has(id))
  if (live.size + before.size > 0) node.liveSessions = live
  for (const session of sessions) actions.openSession(node, session)
  if (!isSame) actions.sessionsChanged(node)
}
