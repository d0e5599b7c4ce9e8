import type { identities } from '../../../shared/contract/identities.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { OwnedTokens } from '../../ports/owned-tokens.ts'
import { markOfSet } from '../../labels/managed-by.ts'
import { byCreatedAtDescending } from '../../sql/keyset.ts'
import { addServiceIdentity, newServiceIdentity, sealedSubjectOf, type PrincipalKeys } from './add-service-identity.ts'
import { deleteServiceIdentity, patchServiceIdentity } from './change-service-identity.ts'
import { handleOf, referenceOf, toDetail, toRevealedDetail, toSummary } from './identity.ts'
import { pseudonymOf } from './pseudonym.ts'
import * as store from './store.ts'

export interface IdentitiesDeps extends PrincipalKeys {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly ownedTokens: OwnedTokens
}

/** Serves the principals of a Domain, newest first. Only auditors see what identifies one outside of the Domain. */
export function createIdentities({
  datastore,
  ids,
  ownedTokens,
  ...keys
}: IdentitiesDeps): Handlers<typeof identities> {
  const db = () => datastore.pool('interactive')

  async function revealed(principal: Pick<store.PrincipalRecord, 'id' | 'subject_sealed'>): Promise<string> {
    const subject = await keys.sealing.open(sealedSubjectOf(principal.id), principal.subject_sealed)
    return subject.toString('utf8')
  }

  async function toRevealed(principal: store.RevealedPrincipal) {
    return { ...toSummary(principal), ...handleOf(principal, await revealed(principal)) }
  }

  function handledAs(domainId: string, handle: string, isAuditor: boolean): store.Handled {
    const email = isAuditor ? handle.toLowerCase() : undefined
    return { pseudonym: pseudonymOf(keys.keyring, domainId, handle), login: handle, email }
  }

  return {
    async ListIdentities(ctx, { id: domainId, kind, handle, reveal }) {
      const isAuditor = (handle !== undefined || reveal === 'true') && (await ctx.probe('reveal'))
      const isRevealed = reveal === 'true' && isAuditor
      if (reveal === 'true') ctx.note({ pseudonym_revealed: isRevealed })
      const handled = handle === undefined ? undefined : handledAs(domainId, handle, isAuditor)
      const filter = { domainId, kind, handled }
      return isRevealed
        ? listPage(ctx, (range) => store.selectRevealed(db(), filter, range).execute(), {
            ...SHOWN,
            toAnswer: toRevealed,
          })
        : listPage(ctx, (range) => store.selectPrincipals(db(), filter, range).execute(), {
            ...SHOWN,
            toAnswer: toSummary,
          })
    },

    async GetIdentity(ctx, { id: domainId, principal_id: id }) {
      const principal = await store.findPrincipal(db(), domainId, id)
      if (principal === undefined) throw problem('identity_not_found')
      const mayReveal = await ctx.probe('reveal')
      ctx.note({ pseudonym_revealed: mayReveal })
      return mayReveal ? toRevealedDetail(principal, await revealed(principal)) : toDetail(principal)
    },

    async CreateServiceIdentity(ctx, { id: domainId, body }) {
      const { display_name: displayName, subject, jwks, spiffe_id: spiffeId } = body
      const createdAt = new Date(ctx.nowMs)
      const draft = { id: ids.next(), domainId, displayName, subject, jwks, spiffeId, createdAt }
      const identity = await newServiceIdentity(draft, keys)
      const mark = await markOfSet(ctx, db(), body.managed_by)
      await ctx.change(async (change) => {
        await addServiceIdentity(change, identity)
        await mark(change, { kind: 'serviceaccount', id: identity.id })
      })
      ctx.header('Location', `/v1/domains/${domainId}/identities/${identity.id}`)
      return toSummary(identity)
    },

    async UpdateServiceIdentity(ctx, { id: domainId, principal_id: id, body }) {
      const patched = await ctx.change((change) =>
        patchServiceIdentity(change, { domainId, id, patch: body, at: new Date(ctx.nowMs) }, ownedTokens),
      )
      return toSummary(patched)
    },

    async DeleteServiceIdentity(ctx, { id: domainId, principal_id: id }) {
      await ctx.change(async (change) => {
        const place = { domainId, id, at: new Date(ctx.nowMs) }
        ctx.note({ count: await deleteServiceIdentity(change, place, ownedTokens) })
      })
    },
  }
}

const SHOWN = {
  positionOf: byCreatedAtDescending.positionOf,
  visible: (principal: store.PrincipalSummary) => ({ reference: referenceOf(principal) }),
}
