import type { idpBindings } from '../../../shared/contract/idp-bindings.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Issuers } from '../../ports/issuers.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { byAlias } from '../../sql/keyset.ts'
import {
  newBinding,
  patchedBinding,
  placeOf,
  secretPlace,
  toAnswer,
  toOffer,
  toPort,
  type PatchBody,
} from './binding.ts'
import { assertMayBecome, assertSound, endsSignIns, reachesInside } from './rules.ts'
import { dryRunSignIn } from './sign-in-dry-run.ts'
import * as store from './store.ts'

export interface IdpBindingsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly sealing: Sealing
  /** Undefined where sessions are not available: then there are none to end. */
  readonly sessions: Pick<Sessions, 'endAllOfBinding'> | undefined
  /** The issuers that sign-ins use. What is cached of a changed binding is discarded. */
  readonly issuers: Pick<Issuers, 'forget'>
  /** Issuers with an empty cache: a test fetches by itself and does not change the shared cache. */
  readonly newIssuers: () => Issuers
  /** The redirect URI of issuers. */
  readonly callbackUrl: string
}

/** Serves the identity providers that Domains and the platform are bound to, by alias. */
export function createIdpBindings(deps: IdpBindingsDeps): Handlers<typeof idpBindings> {
  const { datastore, ids, sealing, sessions, issuers } = deps
  const db = () => datastore.pool('interactive')

  /** Reads the binding and runs the gate on its place. Without `manage` there, the answer is that for an unknown binding. */
  async function admitTo(ctx: RequestContext, id: string): Promise<store.BindingRecord> {
    const binding = await store.findBinding(db(), id)
    await ctx.admit(binding && { place: placeOf(binding) })
    if (binding === undefined) throw problem('idp_binding_not_found')
    ctx.about(`idp_binding:${id}`, binding.domain_id)
    return binding
  }

  async function withSecret(binding: store.BindingRecord, secret: string | null | undefined) {
    if (secret === undefined) return binding
    const sealed = secret === null ? null : await sealing.seal(secretPlace(binding.id), Buffer.from(secret))
    return { ...binding, client_secret_sealed: sealed }
  }

  async function endSessions(ctx: RequestContext, change: Change, id: string): Promise<number> {
    const ended = (await sessions?.endAllOfBinding(change, id)) ?? 0
    if (ended > 0) ctx.note({ sessions_revoked: ended })
    return ended
  }

  /** The binding after the change, from the stored one. */
  async function changed(ctx: RequestContext, found: store.BindingRecord, body: PatchBody) {
    const next = patchedBinding(found, body, new Date(ctx.nowMs))
    assertMayBecome(found, next, body)
    return withSecret(next, body.client_secret)
  }

  return {
    async GetAuthIdPBindings(_ctx, { domain_id: domainId }) {
      return (await store.offeredBindings(db(), domainId)).map(toOffer)
    },

    GetAdminIdP: (ctx, { domain_id: domainId = null }) =>
      listPage(ctx, (range) => store.listBindings(db(), domainId, range), {
        positionOf: byAlias.positionOf,
        toAnswer,
      }),

    async PostAdminIdP(ctx, { domain_id: domainId = null, body }) {
      const draft = newBinding({ id: ids.next(), domainId, at: new Date(ctx.nowMs) }, body)
      assertSound(draft)
      if (reachesInside(undefined, draft)) await ctx.require('manage', PLATFORM)
      const binding = await withSecret(draft, body.client_secret)
      await ctx.change(async (change) => {
        if (domainId !== null && !(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
        if ((await store.countBindings(change.db, domainId)) >= store.BINDINGS_MAX) throw conflict('limit')
        await store.insertBinding(change.db, binding)
        change.emit({ event: 'IdPBindingCreated', ...about(binding, {}) })
        ctx.about(`idp_binding:${binding.id}`, domainId)
      })
      ctx.header('Location', `/v1/admin/idp/${binding.id}`)
      return toAnswer(binding)
    },

    async PatchAdminIdPByID(ctx, { id, body }) {
      const found = await admitTo(ctx, id)
      const mayReachInside = reachesInside(found, patchedBinding(found, body, new Date(ctx.nowMs)))
      if (mayReachInside) await ctx.require('manage', PLATFORM)
      const patched = await ctx.change(async (change) => {
        const before = await lock(change, id)
        const next = await changed(ctx, before, body)
        if (reachesInside(before, next) && !mayReachInside) throw conflict('moment')
        await store.updateBinding(change.db, next)
        const ended = endsSignIns(before, next) ? await endSessions(ctx, change, id) : 0
        const counts = { active: next.is_active, sessions_revoked: ended }
        change.emit({ event: 'IdPBindingUpdated', ...about(next, counts) })
        return next
      })
      for (const issuer of new Set([found.issuer, patched.issuer])) issuers.forget(issuer)
      return toAnswer(patched)
    },

    async DeleteAdminIdPByID(ctx, { id }) {
      await admitTo(ctx, id)
      await ctx.change(async (change) => {
        const binding = await lock(change, id)
        const ended = await endSessions(ctx, change, id)
        await store.deleteBinding(change.db, id)
        change.emit({ event: 'IdPBindingDeleted', ...about(binding, { sessions_revoked: ended }) })
      })
    },

    async PostAdminIdPTest(ctx, { id }) {
      const binding = await admitTo(ctx, id)
      const { client_secret_sealed: sealed } = binding
      const secret = sealed === null ? undefined : (await sealing.open(secretPlace(id), sealed)).toString('utf8')
      return dryRunSignIn(toPort(binding), { issuers: deps.newIssuers(), callbackUrl: deps.callbackUrl, secret })
    },
  }
}

/** Locks a binding that was read before. */
async function lock(change: Change, id: string): Promise<store.BindingRecord> {
  const binding = await store.lockBinding(change.db, id)
  if (binding === undefined) throw problem('idp_binding_not_found')
  return binding
}

const CONFLICTS = {
  limit: `there are ${store.BINDINGS_MAX} bindings already`,
  moment: 'the binding was changed meanwhile; look at it and try again',
} as const

function conflict(what: keyof typeof CONFLICTS): Error {
  return problem('idp_binding_conflict', { reason: CONFLICTS[what] })
}

/** An event of the binding without its literal. `more`: members that the event has beyond the binding's names. */
function about<More extends object>({ id, alias, issuer, domain_id: domainId }: store.BindingRecord, more: More) {
  return { domainId, aggregate: `idp_binding:${id}`, payload: { binding_id: id, alias, issuer, ...more } }
}
