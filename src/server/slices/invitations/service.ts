import type { invitations } from '../../../shared/contract/invitations.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Invitations } from '../../ports/invitations.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { byCreatedAtDescending } from '../../sql/keyset.ts'
import { DEFAULT_TTL_SECONDS, toAnswer } from './invitation.ts'
import * as store from './store.ts'

export interface InvitationsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/** Serves the invitations of a Domain, newest first. Nothing is sent to anybody. */
export function createInvitations({ datastore, ids }: InvitationsDeps): Handlers<typeof invitations> {
  return {
    async CreateInvitation(ctx, { id: domainId, body }) {
      const created_at = new Date(ctx.nowMs)
      const invitation: store.InvitationRecord = {
        id: ids.next(),
        domain_id: domainId,
        email: body.email,
        created_by: ctx.caller.subject,
        created_at,
        expires_at: new Date(ctx.nowMs + (body.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1000),
        accepted_at: null,
        accepted_by: null,
      }
      await ctx.change(async ({ db }) => {
        if (!(await holdDomain(db, domainId))) throw problem('domain_not_found')
        await store.insertInvitation(db, invitation)
      })
      ctx.header('Location', `/v1/domains/${domainId}/invitations/${invitation.id}`)
      return toAnswer(invitation)
    },

    ListInvitations: (ctx, { id: domainId }) =>
      listPage(ctx, (range) => store.readInvitations(datastore.pool('interactive'), domainId, range), {
        positionOf: byCreatedAtDescending.positionOf,
        toAnswer,
      }),

    async DeleteInvitation(ctx, { id: domainId, invitation_id: id }) {
      await ctx.change(async ({ db }) => {
        if (!(await store.deleteOpen(db, { id, domainId }))) throw problem('invitation_not_found')
      })
    },
  }
}

/** Lets signing in use invitations up. */
export function createInvitationBook(): Invitations {
  return { accept: ({ db }, arrival) => store.acceptOpen(db, arrival) }
}
