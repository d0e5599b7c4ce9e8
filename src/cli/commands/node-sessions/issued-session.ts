import { ProblemAnswer } from '../../../client/failures.ts'
import type { SessionKind } from '../../../shared/events/wire-types.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { usageError } from '../../errors/cli-error.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import type { FarNode } from './far-node.ts'

/** A mediated session with its token. */
export interface IssuedSession {
  readonly id: string
  readonly token: string
  readonly target: string
  readonly expiresAtMs: number
  /** Revokes it, also after Ctrl-C. Warns where that fails; one that has ended already is revoked enough. */
  revoke(): Promise<void>
}

/** What is asked for. */
export interface SessionWish {
  readonly node: FarNode
  readonly kind: SessionKind
  readonly target: string
  readonly ttlSeconds: number | undefined
  readonly idleSeconds: number | undefined
}

/** Flags of commands that go through a session. */
export const SESSION_FLAGS = {
  project: {
    kind: 'text',
    value: 'PROJECT',
    noun: 'projects',
    describe: 'Project in which the session is issued',
    also: 'CTL_PROJECT',
  },
  'idle-timeout': { kind: 'duration', describe: 'End the session when no byte has passed for this long' },
} as const satisfies FlagSpecs

const REVOKE_MS_MAX = 10_000

/** Issues a session. @throws what the call throws, and a usage error where it is unknown which Project is meant. */
export async function issueSession(session: Session, wish: SessionWish): Promise<IssuedSession> {
  const { node, kind, target, ttlSeconds, idleSeconds } = wish
  const projectId = await projectOf(session, node)
  const client = await session.client()
  const issued = await client.CreateMediatedSession({
    project_id: projectId,
    body: {
      node_id: node.id,
      kind,
      target,
      ...(ttlSeconds !== undefined && { ttl_seconds: Math.ceil(ttlSeconds) }),
      ...(idleSeconds !== undefined && { idle_timeout_seconds: Math.ceil(idleSeconds) }),
    },
  })
  const { session_id: id, token, expires_at: expiresAt } = issued
  return {
    id,
    token,
    target,
    expiresAtMs: Date.parse(expiresAt),
    async revoke() {
      try {
        // A signal of its own: that of the session is aborted after Ctrl-C.
        const signal = AbortSignal.timeout(REVOKE_MS_MAX)
        await client.DeleteMediatedSession({ project_id: projectId, session_id: id }, { signal })
      } catch (error) {
        if (error instanceof ProblemAnswer && error.code === 'session_not_found') return
        const why = error instanceof Error ? error.message : String(error)
        session.warn(
          `session ${id} could not be revoked and lasts until ${expiresAt} (${why}): ctl mediated-sessions revoke ${id} --project ${projectId}`,
        )
      }
    },
  }
}

/** That of --project and the like, else that of the node, else the only one. */
async function projectOf(session: Session, { domainId, projectId }: FarNode): Promise<string> {
  const resolver = createResolver(session)
  const scope = { domains: domainId }
  const chosen = await resolver.chosen('projects', scope)
  const id = chosen?.id ?? projectId ?? (await resolver.fallback('projects', scope))?.id
  if (id !== undefined) return id
  throw usageError('--project is missing', 'Add --project, or set CTL_PROJECT')
}
