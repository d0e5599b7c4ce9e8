import type { localAccounts } from '../../../shared/contract/local-accounts.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import { heldAsTakeover } from '../../http/held/takeover.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { HeldCalls } from '../../ports/held-calls.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import type { Users } from '../../ports/users.ts'
import { managedPlaces } from '../../sql/managed-places.ts'
import { byLogin } from '../../sql/keyset.ts'
import { areLastPlatformAdmins } from '../../sql/platform-admins.ts'
import { toAnswer } from './account.ts'
import { addAccount, makePlatformAdmin } from './add-account.ts'
import { HashingBusy, type PasswordHashing } from './password-hash.ts'
import { drawPassword } from './password-rules.ts'
import { deleteCodes } from './recovery-code-store.ts'
import * as store from './store.ts'

export interface LocalAccountsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly users: Users
  readonly sessions: Pick<Sessions, 'endAllOf'>
  readonly hashing: PasswordHashing
  readonly heldCalls: Pick<HeldCalls, 'mostAsked'>
}

/** One handler per operation of local accounts. */
export type LocalAccountsHandlers = Handlers<typeof localAccounts>

type Patch = Input<(typeof localAccounts)['operations']['PatchAdminUserByID']>['body']

/** Serves the accounts of the bundled provider to those who administer the platform. */
export function createLocalAccounts(deps: LocalAccountsDeps): LocalAccountsHandlers {
  const { datastore, ids, users, hashing } = deps

  async function holdTakeover(ctx: RequestContext, accountId: string): Promise<void> {
    const db = datastore.pool('interactive')
    const userId = await store.findUserOf(db, accountId)
    if (userId === undefined) throw problem('account_not_found')
    const user = { type: 'user', id: userId } as const
    const managed = await managedPlaces(db, user)
    heldAsTakeover(ctx, user, { managed, mostAsked: await deps.heldCalls.mostAsked(db, 'access.takeover') })
  }

  return {
    async PostAdminUsers(ctx, { body }) {
      const password = await freshPassword(hashing)
      const draft = {
        id: ids.next(),
        userId: ids.next(),
        login: body.login,
        displayName: body.display_name,
        email: body.email?.toLowerCase() ?? null,
        domainId: body.domain_id,
        passwordHash: password.hash,
        createdAt: new Date(ctx.nowMs),
      }
      const account = await ctx.change(async (change) => {
        const added = await addAccount(change, users, draft)
        if (body.platform_admin === true) await makePlatformAdmin(change, draft.userId)
        return added
      })
      ctx.about(`user:${draft.userId}`, draft.domainId)
      ctx.header('Location', `/v1/admin/users/${draft.id}`)
      return { ...toAnswer(account), one_time_password: password.text }
    },

    GetAdminUsers: (ctx) =>
      listPage(ctx, (range) => store.listAccounts(datastore.pool('interactive'), range), {
        positionOf: byLogin.positionOf,
        toAnswer,
      }),

    async PatchAdminUserByID(ctx, { id, body }) {
      const password = body.reset_password === true ? await freshPassword(hashing) : undefined
      const patch = { body, passwordHash: password?.hash, by: ctx.caller.id, at: new Date(ctx.nowMs) }
      if (isTakeover(body)) await holdTakeover(ctx, id)
      const account = await ctx.change((change) => patchAccount(change, id, { ...deps, ...patch }))
      ctx.about(`user:${account.principal_id}`, account.domain_id)
      return { ...toAnswer(account), ...(password !== undefined && { one_time_password: password.text }) }
    },

    async DeleteAdminUserByID(ctx, { id }) {
      await ctx.change(async (change) => {
        const account = await store.lockAccount(change.db, id)
        if (account === undefined) throw problem('account_not_found')
        await keepAnAdmin(change, account)
        await deps.sessions.endAllOf(change, account.principal_id)
        await setDisabled(change, account, new Date(ctx.nowMs))
        await store.deleteAccount(change.db, id)
        announce(change, 'LocalAccountDeleted', account)
        ctx.about(`user:${account.principal_id}`, account.domain_id)
      })
    },
  }
}

async function freshPassword(hashing: PasswordHashing): Promise<{ readonly text: string; readonly hash: string }> {
  const text = drawPassword()
  try {
    return { text, hash: await hashing.hash(text) }
  } catch (error) {
    throw error instanceof HashingBusy ? problem('rate_limited', { retry_after_seconds: 5 }) : error
  }
}

interface Patching extends Pick<LocalAccountsDeps, 'sessions'> {
  readonly body: Patch
  readonly passwordHash: string | undefined
  /** Id of the administrator. */
  readonly by: string
  readonly at: Date
}

async function patchAccount(change: Change, id: string, patching: Patching): Promise<store.ListedAccount> {
  const { body, at } = patching
  const account = await store.lockAccount(change.db, id)
  if (account === undefined) throw problem('account_not_found')
  if (body.disabled === true && account.disabled_at === null) await keepAnAdmin(change, account)
  const isSignedOut = endsSessions(body)
  if (isSignedOut) await patching.sessions.endAllOf(change, account.principal_id)
  await deleteReset(change, id, body)
  if (body.disabled !== undefined) await setDisabled(change, account, body.disabled ? at : null)
  const noted = { ...(isChangedByOther(account, patching) && { changed_by_other_at: at }), updated_at: at }
  const values = { ...valuesOf(account, patching), ...(isSignedOut && { signed_out_at: at }), ...noted }
  await store.updateAccount(change.db, id, values)
  announce(change, 'LocalAccountUpdated', account)
  const patched = await store.findListed(change.db, id)
  if (patched === undefined) throw new Error('an account that is locked was deleted')
  return patched
}

/** Either reset deletes the recovery codes: somebody else may have them. */
async function deleteReset({ db }: Change, id: string, { reset_password, reset_second_factors }: Patch): Promise<void> {
  if (reset_second_factors === true) await store.deletePasskeys(db, id)
  if ([reset_password, reset_second_factors].includes(true)) await deleteCodes(db, id)
}

/** Whether the caller could sign in as the person afterwards. */
function isTakeover({ reset_password, reset_second_factors }: Patch): boolean {
  return [reset_password, reset_second_factors].includes(true)
}

function endsSessions({ disabled, reset_password, reset_second_factors }: Patch): boolean {
  return [disabled, reset_password, reset_second_factors].includes(true)
}

/** Whether somebody else gets a way to sign in to the account, or takes one from it. */
function isChangedByOther(account: store.AccountRecord, { by, body }: Patching): boolean {
  return by !== account.principal_id && [body.reset_password, body.reset_second_factors].includes(true)
}

/** The patch as columns. */
function valuesOf(account: store.AccountRecord, { body, passwordHash, at }: Patching) {
  return {
    ...(body.display_name !== undefined && { display_name: body.display_name }),
    ...(body.email !== undefined && { email: body.email?.toLowerCase() ?? null }),
    ...(body.disabled !== undefined && { disabled_at: body.disabled ? (account.disabled_at ?? at) : null }),
    ...(passwordHash !== undefined && {
      password_hash: passwordHash,
      must_change_password: true,
      failed_count: 0,
      locked_until: null,
    }),
    ...factorsOf(body),
  }
}

function factorsOf({ reset_second_factors }: Patch) {
  return reset_second_factors === true ? { totp_sealed: null, totp_last_step: null, totp_enrolled_at: null } : {}
}

/** API tokens of the user work as long as the user may sign in. */
async function setDisabled(
  change: Change,
  { principal_id: userId }: store.AccountRecord,
  at: Date | null,
): Promise<void> {
  const tokenIds = await store.setUserDisabled(change.db, userId, at)
  for (const id of tokenIds) change.credentialChanged('api-token', id)
}

/** @throws Problem `last_platform_admin` where nobody else could administer the platform. */
async function keepAnAdmin(change: Change, { principal_id: userId }: store.AccountRecord): Promise<void> {
  if (await areLastPlatformAdmins(change.db, ({ id }) => id === userId)) throw problem('last_platform_admin')
}

function announce(
  change: Change,
  event: 'LocalAccountUpdated' | 'LocalAccountDeleted',
  { id, principal_id: userId, domain_id: domainId }: store.AccountRecord,
): void {
  change.emit({ event, domainId, aggregate: `user:${userId}`, payload: { account_id: id } })
}
