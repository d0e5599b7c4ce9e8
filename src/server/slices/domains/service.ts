import type { domains } from '../../../shared/contract/domains.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { ApprovalQueue } from '../../ports/approval-queue.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { assertNoContents, type ChildTable } from '../../sql/contents.ts'
import { visibilitySettingChanged } from '../../policies/visibility-changes.ts'
import { bySlug } from '../../sql/keyset.ts'
import { addDomain } from './add-domain.ts'
import { announce } from './announce.ts'
import { newDomain, patchedDomain, toAnswer, touchesCaveats } from './domain.ts'
import * as store from './store.ts'

export interface DomainsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  /** What a Domain contains, by child table. */
  readonly contents: readonly ChildTable[]
  readonly approvalQueue: Pick<ApprovalQueue, 'withdrawOfDomain'>
}

/** Serves the Domains. They are listed by slug. */
export function createDomains({ datastore, ids, contents, approvalQueue }: DomainsDeps): Handlers<typeof domains> {
  return {
    async CreateDomain(ctx, { body }) {
      const domain = newDomain(ids.next(), body, new Date(ctx.nowMs))
      await ctx.change(async (change) => {
        await addDomain(change, domain)
        ctx.about(`domain:${domain.id}`, null)
      })
      ctx.header('Location', `/v1/domains/${domain.id}`)
      return toAnswer(domain)
    },

    ListDomains: (ctx) =>
      listPage(ctx, (range) => store.listDomains(datastore.pool('interactive'), range), {
        positionOf: bySlug.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async GetDomain(_ctx, { id }) {
      const domain = await store.findDomain(datastore.pool('interactive'), id)
      if (domain === undefined) throw problem('domain_not_found')
      return toAnswer(domain)
    },

    async GetDomainUsage(ctx, { id }) {
      const usage = await store.findUsage(datastore.pool('interactive'), id, new Date(ctx.nowMs))
      if (usage === undefined) throw problem('domain_not_found')
      return usage
    },

    async PatchDomain(ctx, { id, body }) {
      const patched = await ctx.change(async (change) => {
        const domain = await store.lockForUpdate(change.db, id)
        if (domain === undefined) throw problem('domain_not_found')
        const next = patchedDomain(domain, body, new Date(ctx.nowMs))
        await store.updateDomain(change.db, next)
        announce(change, 'DomainUpdated', next)
        if (next.peer_visibility !== domain.peer_visibility) await visibilitySettingChanged(change, id)
        if (touchesCaveats(body)) change.domainChanged(id)
        return next
      })
      return toAnswer(patched)
    },

    async DeleteDomain(ctx, { id }) {
      ctx.about(`domain:${id}`, null)
      await ctx.change(async (change) => {
        const domain = await store.lockForDelete(change.db, id)
        if (domain === undefined) throw problem('domain_not_found')
        await assertNoContents(change.db, contents, { parent: 'domains', id, now: new Date(ctx.nowMs) })
        await approvalQueue.withdrawOfDomain(change, id, ctx.nowMs)
        await store.deleteDomain(change.db, id)
        await change.tuples.deleteObject(`domain:${id}`)
        announce(change, 'DomainDeleted', domain)
        change.domainChanged(id)
      })
    },
  }
}
