import type { Logger } from 'pino'
import type { Page, PageAnswer, PageVisit } from '../http/pages.ts'
import { CLEARED_COOKIES } from '../http/session-cookies.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../ports/idp-bindings.ts'
import type { Issuers } from '../ports/issuers.ts'
import { SESSION_COOKIE, type ForgetSignIns, type Sessions, type SignedOutSession } from '../ports/sessions.ts'
import type { AuditEntry, Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { endSessionUrl } from './end-session.ts'
import { leavingView, SIGN_OUT_PATH, SIGNED_OUT_PATH, stillSignedInView } from './sign-out-views.ts'

export interface SignOutPageDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly sessions: Pick<Sessions, 'toSignOut' | 'endOf' | 'endAllOf'>
  readonly bindings: Pick<IdpBindings, 'find'>
  readonly issuers: Pick<Issuers, 'metadata'>
  /** Undefined where the server brings no provider. */
  readonly forgetSignIns: ForgetSignIns | undefined
  readonly log: Logger
}

/**
 * Signs a browser out, or all of a person's with `everywhere`: here, and then at the provider that the session began
 * with. A form, since the provider is a place to go to. Like every form it is held to the allowed origins; another site
 * could not bring the `Strict` cookie along either.
 */
export function createSignOutPage(deps: SignOutPageDeps): Page {
  return { method: 'POST', path: SIGN_OUT_PATH, perAddress: true, handler: (visit) => signOut(deps, visit) }
}

async function signOut(deps: SignOutPageDeps, visit: PageVisit): Promise<PageAnswer> {
  const cookie = visit.browser.cookie(SESSION_COOKIE)
  const session = cookie === undefined ? undefined : await deps.sessions.toSignOut(pool(deps), cookie)
  if (session !== undefined && cookie !== undefined) await end(deps, { visit, session, cookie })
  return { ...(await nextOf(deps, session)), cookies: CLEARED_COOKIES }
}

const pool = ({ datastore }: SignOutPageDeps) => datastore.pool('interactive')

interface Ending {
  readonly visit: PageVisit
  readonly session: SignedOutSession
  readonly cookie: string
}

/** What the two sign-outs of the API do, audited as they are. */
async function end({ unitOfWork, sessions, forgetSignIns }: SignOutPageDeps, ending: Ending): Promise<void> {
  const { visit, session, cookie } = ending
  const { principalId } = session
  const isEverywhere = visit.form.get('everywhere') === 'yes' && visit.session?.id === principalId
  let context: AuditEntry['context'] = {}
  const audit = (): AuditEntry[] => [rowOf(ending, isEverywhere, context)]
  await unitOfWork.run({ pool: 'interactive', correlationId: visit.correlationId, audit }, async (change) => {
    await forgetSignIns?.(change, principalId, new Date(visit.nowMs))
    if (!isEverywhere) return sessions.endOf(change, cookie)
    const revoked = await sessions.endAllOf(change, principalId)
    context = { sessions_revoked: revoked }
    announce(change, session, revoked)
  })
}

function announce(change: Change, { principalId, domainId }: SignedOutSession, revoked: number): void {
  const payload = { sessions_revoked: revoked }
  change.emit({ event: 'identity.UserSignedOut', domainId, aggregate: `user:${principalId}`, payload })
}

function rowOf({ visit, session }: Ending, isEverywhere: boolean, context: AuditEntry['context']): AuditEntry {
  const subject = `user:${session.principalId}`
  const relation = isEverywhere ? 'auth.session.terminate.global' : 'auth.session.terminate'
  const granted = { outcome: 'granted', reason: 'granted', correlationId: visit.correlationId } as const
  return { domainId: session.domainId, subject, relation, object: subject, ...granted, context }
}

async function nextOf(deps: SignOutPageDeps, session: SignedOutSession | undefined): Promise<PageAnswer> {
  const bindingId = session?.bindingId ?? undefined
  const binding = bindingId === undefined ? undefined : await deps.bindings.find(pool(deps), bindingId)
  if (binding === undefined || binding.isBundled) return { location: SIGNED_OUT_PATH }
  const url = await providerSignOut(deps, binding, session?.idToken)
  return { document: url === undefined ? stillSignedInView(binding.issuer) : leavingView(url) }
}

/** Nobody is kept here because their provider cannot be reached. */
async function providerSignOut(
  { issuers, log }: SignOutPageDeps,
  binding: IdpBinding,
  idToken: string | undefined,
): Promise<string | undefined> {
  try {
    return endSessionUrl(await issuers.metadata(binding), binding, idToken)
  } catch (error) {
    log.warn({ err: error, binding: binding.id }, 'the identity provider could not be asked where to sign out')
    return undefined
  }
}
