import { Problem } from '../../../shared/problems.ts'
import { assertFormToken } from '../../http/auth/csrf.ts'
import type { Cookie } from '../../http/cookies.ts'
import { firstArrival } from '../../http/pages/first-arrival.ts'
import type { Page, PageAnswer, PageVisit } from '../../http/pages/pages.ts'
import { isSignInRecent, SIGN_IN_AGE_MAX_MS } from '../../http/auth/recent-sign-in.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { WhereToSignIn } from '../../ports/idp-bindings.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { WEAKNESSES } from '../../ports/local-sign-in.ts'
import type { Sessions } from '../../ports/sessions.ts'
import { ACCOUNT_PATH, accountView, codesView, elsewhereView, type AccountView } from './account-views.ts'
import { factorsOf, MULTI_FACTOR } from './factors.ts'
import { announceUpdate, createChangeOwn, type ChangeOwn } from './own-change.ts'
import {
  createOwnPassword,
  type ChangeOwnPassword,
  type OwnPasswordDeps,
  type PasswordRefusal,
} from './own-password.ts'
import { codesLeft } from './recovery-code-store.ts'
import { drawRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts'
import { passkeysOf } from './sign-in-store.ts'
import * as store from './store.ts'

/** Begins a sign-in: returns the redirect target and the cookie that binds it to the browser. */
export type BeginSignIn = (order: {
  readonly where: WhereToSignIn
  readonly returnTo: string
  readonly asked?: { readonly maxAgeSeconds: number }
  readonly visit: PageVisit
}) => Promise<{ readonly location: string; readonly cookies: readonly Cookie[] }>

export interface AccountPagesDeps extends OwnPasswordDeps {
  readonly sessions: Pick<Sessions, 'endOthersOf' | 'csrfToken'>
  readonly keyring: Keyring
  readonly beginSignIn: BeginSignIn
}

interface Deps extends AccountPagesDeps {
  readonly changePassword: ChangeOwnPassword
  readonly changeOwn: ChangeOwn
}

/** A visit of somebody who is signed in and has a local account. */
interface Visiting {
  readonly deps: Deps
  readonly visit: PageVisit
  readonly caller: Caller
  readonly account: store.AccountRecord
}

/**
 * The pages with which people change their own local account: change the password, and make recovery codes. Plain forms, each with the token
 * of the session, so that nothing needs a script and password managers understand it.
 */
export function createAccountPages(given: AccountPagesDeps): readonly Page[] {
  const deps: Deps = { ...given, changePassword: createOwnPassword(given), changeOwn: createChangeOwn(given) }
  const page = (
    method: Page['method'],
    path: Page['path'],
    serve: (visiting: Visiting) => Promise<PageAnswer>,
  ): Page => ({
    method,
    path,
    perAddress: true,
    handler: (visit) => visited(deps, visit, serve),
  })
  return [
    page('GET', ACCOUNT_PATH, look),
    page('POST', `${ACCOUNT_PATH}/password`, changePassword),
    page('POST', `${ACCOUNT_PATH}/recovery-codes`, makeCodes),
  ]
}

async function visited(
  deps: Deps,
  visit: PageVisit,
  serve: (visiting: Visiting) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { session: caller } = visit
  if (caller === undefined) return firstArrival(visit) ?? signIn(deps, visit)
  const account = await store.findAccountOf(deps.datastore.pool('interactive'), caller.id)
  if (account === undefined) return { document: elsewhereView() }
  if (visit.method === 'POST') assertFormToken(visit.form, deps.sessions.csrfToken(caller.credential.id))
  return serve({ deps, visit, caller, account })
}

/** Marks the return address of a sign-in, so that a browser without cookies does not redirect forever. */
const RETURNED = 'returned'

/** Begins a sign-in that comes back here; where a Domain has to be chosen first, the start page asks for it. */
async function signIn(deps: Deps, visit: PageVisit): Promise<PageAnswer> {
  const bindingId = await store.findBundledBinding(deps.datastore.pool('interactive'))
  if (visit.method !== 'GET' || visit.query.has(RETURNED) || bindingId === undefined) return { location: '/' }
  const returnTo = `${ACCOUNT_PATH}?${RETURNED}=1`
  try {
    return await deps.beginSignIn({ where: { idp_binding_id: bindingId }, returnTo, visit })
  } catch (error) {
    if (error instanceof Problem && error.code === 'domain_required') return { location: '/?then=account' }
    throw error
  }
}

async function look(visiting: Visiting): Promise<PageAnswer> {
  const { deps, visit, caller } = visiting
  if (visit.query.has('sign_in')) return signInAgain(visiting)
  const isChanged = visit.query.get('done') === 'password'
  const view = await viewOf(visiting)
  return { document: accountView({ ...view, csrfToken: deps.sessions.csrfToken(caller.credential.id), isChanged }) }
}

/** At the bundled provider, which asks for the password again, and then for the second factor. */
async function signInAgain({ deps, visit, caller }: Visiting): Promise<PageAnswer> {
  const bindingId = await store.findBundledBinding(deps.datastore.pool('interactive'))
  const where = { domain_id: caller.domainId, ...(bindingId !== undefined && { idp_binding_id: bindingId }) }
  return deps.beginSignIn({ where, returnTo: ACCOUNT_PATH, asked: { maxAgeSeconds: SIGN_IN_AGE_MAX_MS / 1000 }, visit })
}

async function viewOf({ deps, visit, caller, account }: Visiting): Promise<Omit<AccountView, 'csrfToken'>> {
  const db = deps.datastore.pool('interactive')
  const [passkeys, left] = await Promise.all([passkeysOf(db, account.id), codesLeft(db, account.id)])
  return {
    login: account.login,
    displayName: caller.displayName,
    hasFactors: factorsOf(account, passkeys).length > 0,
    codesLeft: left.count,
    codesMadeAt: left.madeAt,
    mayMakeCodes: mayMakeCodes(caller, visit),
  }
}

/** A stolen session must not create codes that bypass the second factor: the sign-in must be recent, with several factors. */
function mayMakeCodes({ authTimeMs = 0, acr }: Caller, { nowMs }: PageVisit): boolean {
  return acr === MULTI_FACTOR && isSignInRecent(authTimeMs, nowMs)
}

async function changePassword(visiting: Visiting): Promise<PageAnswer> {
  const { deps, visit, caller, account } = visiting
  const field = (name: string): string => visit.form.get(name) ?? ''
  const next = field('password')
  if (next !== field('again')) return refused(visiting, 'The two new passwords differ. Type the new one twice.')
  const sessionId = caller.credential.id
  const order = { account, next, current: field('current_password'), sessionId, correlationId: visit.correlationId }
  const refusal = await deps.changePassword(order)
  return refusal === undefined ? { location: `${ACCOUNT_PATH}?done=password` } : refused(visiting, sentenceOf(refusal))
}

function sentenceOf(refusal: PasswordRefusal): string {
  if (refusal === 'wrong')
    return 'The current password is wrong. After several wrong guesses an account rests for a while: wait, then try again.'
  return refusal === 'busy'
    ? 'Many passwords are being looked at right now. Try again in a few seconds.'
    : WEAKNESSES[refusal]
}

async function refused(visiting: Visiting, failure: string): Promise<PageAnswer> {
  const csrfToken = visiting.deps.sessions.csrfToken(visiting.caller.credential.id)
  return { document: accountView({ ...(await viewOf(visiting)), csrfToken, failure }), status: 400 }
}

async function makeCodes(visiting: Visiting): Promise<PageAnswer> {
  const { deps, visit, caller, account } = visiting
  if (!mayMakeCodes(caller, visit)) return { location: ACCOUNT_PATH }
  const codes = drawRecoveryCodes()
  const { correlationId } = visit
  const order = { accountId: account.id, relation: 'local_account.recovery_codes', correlationId } as const
  const isMade = await deps.changeOwn(order, async (change, own) => {
    // The account is locked, so that its last factor and the codes are not removed meanwhile.
    if (factorsOf(own, await passkeysOf(change.db, own.id)).length === 0) return false
    await replaceRecoveryCodes(change.db, deps.keyring, { accountId: own.id, codes, at: new Date(visit.nowMs) })
    announceUpdate(change, own)
    return {}
  })
  return isMade ? { document: codesView(codes) } : { location: ACCOUNT_PATH }
}
