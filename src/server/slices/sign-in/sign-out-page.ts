import type { Logger } from 'pino'
import type { Page, PageAnswer, PageVisit } from '../../http/pages/pages.ts'
import { CLEARED_COOKIES } from '../../http/auth/session-cookies.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../../ports/idp-bindings.ts'
import type { Issuers } from '../../ports/issuers.ts'
import { SESSION_COOKIE, type Sessions, type SignedOutSession } from '../../ports/sessions.ts'
import type { AuditEntry, UnitOfWork } from '../../ports/unit-of-work.ts'
import { endSessionUrl } from './end-session.ts'
import {
  leavingView,
  othersGoOnView,
  SIGN_OUT_PATH,
  SIGNED_OUT_PATH,
  stillSignedInView,
  type LeftAtProvider,
} from './sign-out-views.ts'

export interface SignOutPageDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly sessions: Pick<Sessions, 'toSignOut' | 'signOut'>
  readonly bindings: Pick<IdpBindings, 'find'>
  readonly issuers: Pick<Issuers, 'metadata'>
  readonly log: Logger
}

/**
 * Signs a browser out, or all of a person's with `everywhere`: here, and then at the provider that the session began
 * with. A form, since the browser must go to the provider. As for every form, the origin is checked; another site
 * could not send the `Strict` cookie either.
 */
export function createSignOutPage(deps: SignOutPageDeps): Page {
  return { method: 'POST', path: SIGN_OUT_PATH, perAddress: true, handler: (visit) => signOut(deps, visit) }
}

async function signOut(deps: SignOutPageDeps, visit: PageVisit): Promise<PageAnswer> {
  const cookie = visit.browser.cookie(SESSION_COOKIE)
  const session = cookie === undefined ? undefined : await deps.sessions.toSignOut(pool(deps), cookie)
  const isAsked = visit.form.get('everywhere') === 'yes'
  // The cookie of a session that has idled ends that session, but no other one.
  const everywhere = isAsked && session !== undefined && visit.session?.id === session.principalId
  if (session !== undefined) await end(deps, { visit, session, everywhere })
  const left = await leftAtProvider(deps, session)
  return { ...(isAsked && !everywhere ? { document: othersGoOnView(left) } : answerOf(left)), cookies: CLEARED_COOKIES }
}

function answerOf(left: LeftAtProvider | undefined): PageAnswer {
  if (left === undefined) return { location: SIGNED_OUT_PATH }
  return { document: left.url === undefined ? stillSignedInView(left.issuer) : leavingView(left.url) }
}

const pool = ({ datastore }: SignOutPageDeps) => datastore.pool('interactive')

interface Ending {
  readonly visit: PageVisit
  readonly session: SignedOutSession
  readonly everywhere: boolean
}

/** The two sign-outs of the API, with their audit rows. */
async function end({ unitOfWork, sessions }: SignOutPageDeps, ending: Ending): Promise<void> {
  const { visit, session, everywhere } = ending
  let context: AuditEntry['context'] = {}
  const audit = (): AuditEntry[] => [rowOf(ending, context)]
  await unitOfWork.run({ pool: 'interactive', correlationId: visit.correlationId, audit }, async (change) => {
    const revoked = await sessions.signOut(change, session, { everywhere, at: new Date(visit.nowMs) })
    context = everywhere ? { sessions_revoked: revoked } : {}
  })
}

function rowOf({ visit, session, everywhere }: Ending, context: AuditEntry['context']): AuditEntry {
  const subject = `user:${session.principalId}`
  const relation = everywhere ? 'auth.session.terminate.global' : 'auth.session.terminate'
  const granted = { outcome: 'granted', reason: 'granted', correlationId: visit.correlationId } as const
  return { domainId: session.domainId, subject, relation, object: subject, ...granted, context }
}

/**
 * The sign-in that remains at the provider of the session; undefined for the bundled one. The session has
 * ended already: a failure here does not prevent the deletion of the cookies.
 */
async function leftAtProvider(
  deps: SignOutPageDeps,
  session: SignedOutSession | undefined,
): Promise<LeftAtProvider | undefined> {
  try {
    const bindingId = session?.bindingId ?? undefined
    const binding = bindingId === undefined ? undefined : await deps.bindings.find(pool(deps), bindingId)
    if (binding === undefined || binding.isBundled) return undefined
    return { issuer: binding.issuer, url: await providerSignOut(deps, binding, await idTokenOf(deps, session)) }
  } catch (error) {
    deps.log.error({ err: error }, 'the identity provider of a session that was signed out could not be read')
    return undefined
  }
}

/** A provider signs a person out without it too, after a question. */
async function idTokenOf({ log }: SignOutPageDeps, session: SignedOutSession | undefined): Promise<string | undefined> {
  try {
    return await session?.idToken()
  } catch (error) {
    log.error({ err: error, session: session?.id }, 'the ID token of a session could not be opened')
    return undefined
  }
}

/** An unreachable provider must not prevent the sign-out here. */
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
