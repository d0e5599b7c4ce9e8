import type { mediatedSessions } from '../../../shared/contract/mediated-sessions.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { SessionRecord } from './store.ts'

type Operations = (typeof mediatedSessions)['operations']
type Body = Input<Operations['CreateMediatedSession']>['body']
type Answer = Result<Operations['ListMediatedSessions']>['items'][number]

/** A node's report about a session: one member, named after the kind of activity. */
export type Activity = Input<Operations['PostSessionActivity']>['body']

/** Who opens a session, where and when. */
export interface Issue {
  readonly id: string
  readonly projectId: string
  readonly issuedBy: string
  readonly at: Date
}

/** A session without its Domain. */
export type NewSession = Omit<SessionRecord, 'domain_id'>

export function newSession({ id, projectId, issuedBy, at }: Issue, body: Body): NewSession {
  return {
    id,
    project_id: projectId,
    node_id: body.node_id,
    kind: body.kind,
    target: body.target,
    issued_by: issuedBy,
    issued_at: at,
    expires_at: new Date(at.getTime() + body.ttl_seconds * 1000),
    idle_timeout_seconds: body.idle_timeout_seconds ?? null,
    last_active_at: null,
    revoked_at: null,
    ended_at: null,
  }
}

/** The state of a session at a moment: it expires at `expires_at`, even if that is not stored yet. */
export function stateAt(
  session: Pick<SessionRecord, 'revoked_at' | 'ended_at' | 'expires_at'>,
  nowMs: number,
): 'live' | 'revoked' | 'expired' {
  if (session.revoked_at !== null) return 'revoked'
  return session.ended_at !== null || session.expires_at.getTime() <= nowMs ? 'expired' : 'live'
}

/** Whether the activity fits a session of that kind. */
export function isOfKind(activity: Activity, kind: SessionRecord['kind']): boolean {
  return kind in activity
}

/** The member that a session with an idle timeout has, and others lack. */
export function idleTimeoutOf({ idle_timeout_seconds }: SessionRecord): { idle_timeout_seconds?: number } {
  return idle_timeout_seconds === null ? {} : { idle_timeout_seconds }
}

/** A session as it is shown: never its token. */
export function toAnswer(session: SessionRecord): Answer {
  const { id, project_id, node_id, kind, target, issued_by } = session
  return {
    session_id: id,
    jti: id,
    project_id,
    node_id,
    kind,
    target,
    issued_by,
    issued_at: session.issued_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    ...idleTimeoutOf(session),
    last_active_at: session.last_active_at?.toISOString() ?? null,
    revoked_at: session.revoked_at?.toISOString() ?? null,
  }
}
