import type { adminTokens } from '../../../shared/contract/admin-tokens.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { RoleSubject } from '../../../shared/role-subjects.ts'
import { heldAsTakeover } from '../../http/held/takeover.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { HeldCalls } from '../../ports/held-calls.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'
import { managedPlaces } from '../../sql/managed-places.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { answerIssued, answerRotated } from './answers.ts'
import { issueToken, revokeToken, rotateToken } from './change-tokens.ts'
import { listedTokens } from './listing.ts'
import type { MintToken } from './mint.ts'
import { ownerOfRef, ownerSubject, type Owner } from './owner.ts'
import { requireScopes } from './scopes.ts'
import * as store from './store.ts'
import { lifetimeFrom } from './token.ts'

export interface AdminTokensDeps {
  readonly datastore: Datastore
  readonly subjects: SubjectDirectory
  readonly mint: MintToken
  readonly heldCalls: Pick<HeldCalls, 'mostAsked'>
}

/**
 * Serves the tokens of other identities to those who manage the owner's Domain. The subset and lifetime rules
 * of own tokens do not apply; but a token for an owner with a role on the platform requires `manage` there.
 */
export function createAdminTokens({
  datastore,
  subjects,
  mint,
  heldCalls,
}: AdminTokensDeps): Handlers<typeof adminTokens> {
  const db = () => datastore.pool('interactive')

  /** Runs the gate on the owner's Domain, or on the caller's own Domain where there is no such owner: both answer alike. */
  async function admitToOwner(ctx: RequestContext, identityRef: string): Promise<Owner> {
    const owner = await store.findOwner(db(), ownerOfRef(identityRef))
    await ctx.admit({ domain_id: owner?.domainId ?? ctx.caller.domainId })
    if (owner === undefined) throw problem('identity_not_found')
    return owner
  }

  /** Looks the token up before the gate: an unknown one is 404 for every caller (S0 Authentication surface). */
  async function admitToToken(ctx: RequestContext, id: string): Promise<store.TokenRecord> {
    const token = await store.findToken(db(), id)
    await ctx.admit(token === undefined ? undefined : { domain_id: token.domain_id })
    if (token === undefined) throw problem('token_not_found')
    return token
  }

  async function requireSayOver(ctx: RequestContext, owner: Owner): Promise<void> {
    const subject = ownerSubject(owner)
    if (await subjects.holdsPlatformRelation(db(), subject)) await ctx.require('manage', PLATFORM)
    await holdTakeover(ctx, subject)
  }

  async function holdTakeover(ctx: RequestContext, subject: RoleSubject): Promise<void> {
    const managed = await managedPlaces(db(), subject)
    heldAsTakeover(ctx, subject, { managed, mostAsked: await heldCalls.mostAsked(db(), 'access.takeover') })
  }

  return {
    async PostAdminTokens(ctx, { body }) {
      const owner = await admitToOwner(ctx, body.identity_ref)
      await requireSayOver(ctx, owner)
      const scopes = requireScopes(body.scopes)
      const lifetime = lifetimeFrom(ctx.nowMs, body.expires_in_seconds)
      const order = { owner, name: body.name, scopes, lifetime, createdAt: new Date(ctx.nowMs) }
      const issued = await ctx.change(async (change) => {
        const minted = await issueToken(change, mint, order)
        if (minted === undefined) throw problem('identity_not_found')
        return minted
      })
      return answerIssued(ctx, issued, '/v1/admin/tokens')
    },

    async GetAdminTokens(ctx, { identity_ref: identityRef }) {
      const owner = await admitToOwner(ctx, identityRef)
      return listedTokens(db(), owner.id, ctx.nowMs)
    },

    async DeleteAdminTokenByID(ctx, { id }) {
      await admitToToken(ctx, id)
      await ctx.change(async (change) => {
        await revokeToken(change, await lock(change, id), new Date(ctx.nowMs))
      })
    },

    async PostAdminTokenRotate(ctx, { id, body }) {
      const found = await admitToToken(ctx, id)
      if (found.hidden) throw problem('token_not_found')
      await requireSayOver(ctx, { id: found.owner_id, kind: found.owner_kind })
      const rotated = await ctx.change(async (change) => {
        const old = await lock(change, id)
        return rotateToken(change, mint, { old, nowMs: ctx.nowMs, graceSeconds: body.grace_seconds })
      })
      return answerRotated(ctx, rotated)
    },
  }
}

/** Locks a token that was read before. */
async function lock(change: Change, id: string): Promise<store.TokenRecord> {
  const token = await store.lockToken(change.db, id)
  if (token === undefined) throw problem('token_not_found')
  return token
}
