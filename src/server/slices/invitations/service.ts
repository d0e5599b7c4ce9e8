import type { invitations } from '../../../shared/contract/invitations.ts'
import { problem } from '../../../shared/problems.ts'
import { cutPage } from '../../http/cut-page.ts'
import type { Handlers, PagePosition } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Invitations } from '../../ports/invitations.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
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
        if (!(await store.insertInvitation(db, invitation))) throw problem('invitation_already_exists')
      })
      ctx.header('Location', `/v1/domains/${domainId}/invitations/${invitation.id}`)
      return toAnswer(invitation)
    },

    async ListInvitations(ctx, { id: domainId }) {
      const range = { domainId, after: keyOf(ctx.position), count: ctx.pageSize + 1 }
      const read = await store.readInvitations(datastore.pool('interactive'), range)
      const { rows, next } = cutPage(read, ctx.pageSize, positionOf)
      return ctx.page(rows.map(toAnswer), next)
    },

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

function positionOf({ created_at, id }: store.InvitationRecord): PagePosition {
  return [created_at.toISOString(), id]
}

function keyOf(position: PagePosition | undefined): store.InvitationRange['after'] {
  const [createdAt, id] = position ?? []
  return createdAt === undefined || id === undefined ? undefined : { createdAt: new Date(createdAt), id }
}
