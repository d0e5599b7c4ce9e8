import type { mediatedSessions } from '../../../shared/contract/mediated-sessions.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import { holdNode } from '../../sql/hold-node.ts'
import { holdPrincipal } from '../../sql/hold-principal.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { announceIssued, announceRevoked } from './announce.ts'
import { isOfKind, newSession, stateAt, toAnswer, type NewSession } from './session.ts'
import { signToken } from './session-token.ts'
import * as store from './store.ts'

export interface MediatedSessionsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly signer: Signer
  /** The origin under which clients reach the server: who issues the tokens. */
  readonly baseUrl: string
}

/** Problem code for a node that reports on an ended session: S0 States, Mediated session. */
const NOT_LIVE = { revoked: 'session_already_revoked', expired: 'session_not_found' } as const

/** Serves the sessions through nodes. A session's token is in one answer and is not stored. */
export function createMediatedSessions(deps: MediatedSessionsDeps): Handlers<typeof mediatedSessions> {
  const { datastore, ids, signer, baseUrl } = deps
  return {
    async CreateMediatedSession(ctx, { project_id: projectId, body }) {
      await ctx.require('read', `node:${body.node_id}`)
      const issue = { id: ids.next(), projectId, issuedBy: ctx.caller.subject, at: new Date(ctx.nowMs) }
      const issued = newSession(issue, body)
      const token = await signToken(signer, issued, baseUrl)
      const session = await ctx.change(async (change) => {
        if (!(await holdPrincipal(change.db, ctx.caller.id))) throw problem('unauthorized')
        const kept = { ...issued, domain_id: await holdPlace(change.db, issued) }
        ctx.about(`project:${projectId}`, kept.domain_id)
        await store.insertSession(change.db, kept)
        await ownStateChanged(change.db, [kept.node_id])
        announceIssued(change, kept)
        return kept
      })
      ctx.header('Location', `/v1/projects/${projectId}/sessions/${session.id}`)
      return { ...toAnswer(session), token }
    },

    ListMediatedSessions(ctx, { project_id: projectId }) {
      const filter = { projectId, now: new Date(ctx.nowMs) }
      return listPage(ctx, (range) => store.readLive(datastore.pool('interactive'), filter, range), {
        positionOf: byIdDescending.positionOf,
        visible: ({ node_id }) => ({ node_id }),
        toAnswer,
      })
    },

    async DeleteMediatedSession(ctx, { project_id: projectId, session_id: id }) {
      const now = new Date(ctx.nowMs)
      const nodeId = await store.nodeOfLive(datastore.pool('interactive'), { id, projectId, now })
      if (nodeId === undefined) throw problem('session_not_found')
      await ctx.require('read', `node:${nodeId}`)
      await ctx.change(async (change) => {
        await holdNode(change.db, nodeId)
        const revoked = await store.revokeLive(change.db, id, now)
        if (revoked === undefined) throw problem('session_not_found')
        ctx.about(`project:${projectId}`, revoked.domain_id)
        await ownStateChanged(change.db, [nodeId])
        announceRevoked(change, revoked)
      })
    },

    PostSessionActivity: (ctx, { id: nodeId, session_id: id, body }) =>
      ctx.change(async ({ db }) => {
        const session = await store.lockSession(db, { id, nodeId })
        if (session === undefined) throw problem('session_not_found')
        const state = stateAt(session, ctx.nowMs)
        if (state !== 'live') throw problem(NOT_LIVE[state])
        if (!isOfKind(body, session.kind)) throw notOfKind(session.kind)
        await store.touch(db, id, new Date(ctx.nowMs))
      }),
  }
}

function notOfKind(kind: store.SessionRecord['kind']) {
  return problem('invalid_body', {
    errors: [{ pointer: '', detail: `must have the member ${kind}, as the session is` }],
  })
}

/**
 * Keeps a session's Project and node until the transaction ends, and gives the Domain that both are in.
 *
 * @throws Problem `project_not_found`, `node_not_found`.
 */
async function holdPlace(tx: Db, { project_id, node_id }: NewSession): Promise<string> {
  const domainId = await holdProject(tx, project_id)
  if (domainId === undefined) throw problem('project_not_found')
  if ((await holdNode(tx, node_id)) !== domainId) throw problem('node_not_found')
  return domainId
}
