import type { Result } from '../../../shared/contract/operation-types.ts'
import type { ownFactors } from '../../../shared/contract/own-factors.ts'
import { problem } from '../../../shared/problems.ts'
import { isSignInRecent } from '../../http/auth/recent-sign-in.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announceUpdate } from './own-change.ts'
import type { FactorPolicy } from './factor-policy.ts'
import { factorsOf, isRequired, type Factor } from './factors.ts'
import { passkeysOf } from './sign-in-store.ts'
import { deleteCodes } from './recovery-code-store.ts'
import * as store from './store.ts'

export interface OwnFactorsDeps {
  readonly datastore: Datastore
  readonly sessions: Pick<Sessions, 'endOthersOf'>
}

type View = Result<(typeof ownFactors)['operations']['GetAuthFactors']>[number]

/** An account with its factors and the requirements on them. */
interface Held {
  readonly account: store.AccountRecord
  readonly factors: readonly Factor[]
  readonly policy: FactorPolicy
}

/** Serves people their own second factors. A factor of somebody else is answered like one that does not exist. */
export function createOwnFactors({ datastore, sessions }: OwnFactorsDeps): Handlers<typeof ownFactors> {
  return {
    async GetAuthFactors(ctx) {
      const db = datastore.pool('interactive')
      const account = await store.findAccountOf(db, ctx.caller.id)
      const held = account && (await holdings(db, account))
      const views = held?.factors.map((factor) => toView(factor, held)) ?? []
      ctx.note({ item_count: views.length })
      return views
    },

    async DeleteAuthFactorByID(ctx, { id }) {
      const sessionId = recentSession(ctx)
      await ctx.change(async (change) => {
        const account = await store.lockAccountOf(change.db, ctx.caller.id)
        if (account === undefined) throw problem('factor_not_found')
        const held = await holdings(change.db, account)
        const factor = held.factors.find((one) => one.id === id)
        if (factor === undefined) throw problem('factor_not_found')
        if (isRequired(factor, held.factors, held.policy)) throw problem('last_second_factor')
        await remove(change, factor, { account, isLast: held.factors.length === 1, at: new Date(ctx.nowMs) })
        const ended = await sessions.endOthersOf(change, ctx.caller.id, sessionId)
        ctx.note({ kind: factor.kind, sessions_revoked: ended })
      })
    },
  }
}

/** @throws Problem `session_required`, `reauthentication_required` */
function recentSession({ caller, nowMs }: RequestContext): string {
  if (caller.credential.kind !== 'session') throw problem('session_required')
  if (!isSignInRecent(caller.authTimeMs ?? 0, nowMs)) throw problem('reauthentication_required')
  return caller.credential.id
}

async function holdings(db: Db, account: store.AccountRecord): Promise<Held> {
  const passkeys = await passkeysOf(db, account.id)
  return { account, factors: factorsOf(account, passkeys), policy: await store.readFactorPolicy(db, account.domain_id) }
}

interface Removing {
  readonly account: store.AccountRecord
  readonly isLast: boolean
  readonly at: Date
}

/** The provider's sessions that used the factor end. Recovery codes replace a factor and are deleted with the last one. */
async function remove(change: Change, factor: Factor, { account, isLast, at }: Removing): Promise<void> {
  const { id } = account
  const { db } = change
  const isApp = factor.credentialId === undefined
  if (factor.credentialId !== undefined) await store.deletePasskey(db, id, factor.credentialId)
  if (isLast) await deleteCodes(db, id)
  const cleared = isApp ? { totp_sealed: null, totp_last_step: null, totp_enrolled_at: null } : {}
  await store.updateAccount(db, id, { ...cleared, signed_out_at: at, updated_at: at })
  announceUpdate(change, account)
}

function toView(factor: Factor, { factors, policy }: Held): View {
  return {
    id: factor.id,
    kind: factor.kind,
    label: factor.label,
    created_at: factor.createdAt?.toISOString() ?? null,
    last_used_at: factor.lastUsedAt?.toISOString() ?? null,
    required: isRequired(factor, factors, policy),
  }
}
