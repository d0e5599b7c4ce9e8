import { Problem, problem, type ProblemCode } from '../../../shared/problems.ts'
import { assertFormToken } from '../../http/auth/csrf.ts'
import type { Page, PageAnswer, PageVisit } from '../../http/pages/pages.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { decide, decidingSession, type Verdict } from './decide.ts'
import { isSignInRecent } from '../../http/auth/recent-sign-in.ts'
import { isUndecided, lackingFor } from './device-sign-in.ts'
import { address, hasSteppedUp, SIGN_IN, signedOut, signInAgain, type StartSignInDeps } from './start-sign-in.ts'
import * as store from './store.ts'
import { normalizeUserCode, showUserCode } from './user-code.ts'
import { codeForm, decisionForm, DEVICE_PATH, outcomeView, reauthenticationView, type Viewer } from './views.ts'
import { strongerSignInView } from './stronger-sign-in-view.ts'
import { asMembers } from './asked-sign-in.ts'
import type { WrongCodes } from './wrong-codes.ts'

export interface DevicePagesDeps extends StartSignInDeps {
  readonly unitOfWork: UnitOfWork
  readonly wrongCodes: WrongCodes
  readonly sessions: Pick<Sessions, 'csrfToken'>
}

/**
 * The verification page (RFC 8628 §3.3; S0 Authentication surface). Looking at a code never approves it: that takes a
 * POST with the token that the page carries. Plain forms and links, so that nothing needs a script.
 */
export function createDevicePages(deps: DevicePagesDeps): readonly Page[] {
  const page = { path: DEVICE_PATH, perAddress: true } as const
  return [
    { ...page, method: 'GET', handler: (visit) => look(deps, visit) },
    { ...page, method: 'POST', handler: (visit) => submit(deps, visit) },
  ]
}

/** A visit of somebody who is signed in. */
interface Visiting {
  readonly deps: DevicePagesDeps
  readonly visit: PageVisit
  readonly caller: Caller
}

async function look(deps: DevicePagesDeps, visit: PageVisit): Promise<PageAnswer> {
  const caller = visit.session
  if (caller === undefined) return signedOut(deps, visit)
  if (visit.query.has(SIGN_IN)) return signInAgain(deps, visit, caller)
  const visiting = { deps, visit, caller }
  const viewer = await viewerOf(visiting)
  const typed = visit.query.get('user_code') ?? ''
  if (typed.trim() === '') return { document: codeForm(viewer) }
  return show(visiting, viewer, typed)
}

async function show(visiting: Visiting, viewer: Viewer, typed: string): Promise<PageAnswer> {
  const { deps, visit, caller } = visiting
  const userCode = normalizeUserCode(typed)
  if (userCode === undefined) return retry(viewer, 'invalid_user_code')
  if (!isSignInRecent(caller.authTimeMs ?? 0, visit.nowMs)) return reauthentication(viewer, userCode)
  const signIn = await lookUp(visiting, userCode)
  if (signIn === undefined) return retry(viewer, 'device_session_not_found')
  if (!isUndecided(signIn, visit.nowMs)) return { document: outcomeView(viewer, signIn) }
  const lacking = lackingFor(signIn, caller, visit.nowMs)
  if (lacking !== undefined) return strongerSignIn(visiting, viewer, signIn)
  return { document: decisionForm(viewer, signIn, deps.sessions.csrfToken(caller.credential.id)) }
}

/** Offers the sign-in that the device asked for. The browser goes there by a link alone, so that nothing can run in circles. */
function strongerSignIn({ visit }: Visiting, viewer: Viewer, signIn: store.DeviceSignIn): PageAnswer {
  const signInAt = address(
    new Map([['user_code', showUserCode(signIn.user_code)], [SIGN_IN, '1'], ...asMembers(signIn)]),
  )
  return { document: strongerSignInView(viewer, signIn, { signInAt, isRepeated: hasSteppedUp(visit) }), status: 401 }
}

/** The sign-in of the code, where this person may see it: it waits, or they have decided about it. */
async function lookUp(visiting: Visiting, userCode: string): Promise<store.DeviceSignIn | undefined> {
  const { deps, visit, caller } = visiting
  const wasRight = await counted(visiting)
  const { domainId } = caller
  const signIn = await store.findByUserCode(deps.datastore.pool('interactive'), { userCode, domainId })
  if (signIn === undefined || !(isUndecided(signIn, visit.nowMs) || signIn.decided_by === caller.id)) {
    await auditFailure(visiting, 'approved', problem('device_session_not_found'))
    return undefined
  }
  wasRight()
  return signIn
}

async function counted(visiting: Visiting): Promise<() => void> {
  const { deps, visit, caller } = visiting
  try {
    return deps.wrongCodes.count(caller.credential.id, visit.nowMs)
  } catch (error) {
    if (error instanceof Problem) await auditFailure(visiting, 'approved', error)
    throw error
  }
}

async function submit(deps: DevicePagesDeps, visit: PageVisit): Promise<PageAnswer> {
  const typed = visit.form.get('user_code') ?? ''
  const caller = visit.session
  if (caller === undefined) return { location: address(new Map([['user_code', typed.slice(0, 64)]])) }
  const visiting = { deps, visit, caller }
  const verdict = verdictOf(visit.form)
  try {
    assertFormToken(visit.form, deps.sessions.csrfToken(caller.credential.id))
    const decided = await change(visiting, verdict, typed)
    return { location: address(new Map([['user_code', showUserCode(decided.user_code)]])) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await auditFailure(visiting, verdict, error)
    return refused(visiting, typed, error)
  }
}

function change({ deps, visit, caller }: Visiting, verdict: Verdict, typed: string): Promise<store.DeviceSignIn> {
  const session = decidingSession(caller)
  const audit = () => [{ ...rowOf(visit, caller, verdict), outcome: 'granted' as const, reason: 'granted' }]
  return deps.unitOfWork.run({ pool: 'interactive', correlationId: visit.correlationId, audit }, ({ db }) =>
    decide({ db, wrongCodes: deps.wrongCodes }, { verdict, typed, session, nowMs: visit.nowMs }),
  )
}

/** The page after a refused decision; an error that the form cannot correct has its own page. */
async function refused(visiting: Visiting, typed: string, error: Problem): Promise<PageAnswer> {
  // The page looks the code up again, and shows the sign-in that the device asked for.
  if (error.code === 'step_up_required') return { location: address(new Map([['user_code', typed.slice(0, 64)]])) }
  const viewer = await viewerOf(visiting)
  if (error.code === 'reauthentication_required') return reauthentication(viewer, normalizeUserCode(typed) ?? '')
  if (error.code in RETRIES) return retry(viewer, error.code)
  throw error
}

const RETRIES: Readonly<Partial<Record<ProblemCode, { readonly status: number; readonly text: string }>>> = {
  invalid_user_code: { status: 400, text: 'That is no code: it has eight letters, none of them a vowel.' },
  device_session_not_found: {
    status: 404,
    text: 'No device waits with this code. It may have expired; look at your device again.',
  },
}

function retry(viewer: Viewer, code: ProblemCode): PageAnswer {
  const { status = 400, text } = RETRIES[code] ?? {}
  return { document: codeForm(viewer, text), status }
}

function reauthentication(viewer: Viewer, userCode: string): PageAnswer {
  const members = new Map([
    ['user_code', showUserCode(userCode)],
    [SIGN_IN, '1'],
  ])
  return { document: reauthenticationView(viewer, address(members)), status: 401 }
}

async function viewerOf({ deps, visit, caller }: Visiting): Promise<Viewer> {
  const domainName = await store.domainName(deps.datastore.pool('interactive'), caller.domainId)
  const code = visit.query.get('user_code')?.slice(0, 64)
  const members = new Map([[SIGN_IN, '1'], ...(code === undefined ? [] : [['user_code', code] as const])])
  return {
    displayName: caller.displayName,
    domainName,
    sourceAddress: visit.sourceAddress,
    otherAccountAt: address(members),
    nowMs: visit.nowMs,
  }
}

function verdictOf(form: URLSearchParams): Verdict {
  const verdict = form.get('verdict')
  if (verdict !== 'approved' && verdict !== 'denied') throw problem('invalid_request')
  return verdict
}

const RELATIONS = { approved: 'auth.device_code.approve', denied: 'auth.device_code.deny' } as const

/** The audit row of the operation that the form represents. */
function rowOf({ correlationId }: PageVisit, { subject, domainId }: Caller, verdict: Verdict) {
  return { domainId, subject, relation: RELATIONS[verdict], object: subject, correlationId, context: {} }
}

async function auditFailure({ deps, visit, caller }: Visiting, verdict: Verdict, error: Problem): Promise<void> {
  const row = { ...rowOf(visit, caller, verdict), outcome: outcomeOf(error), reason: error.code }
  const options = { pool: 'interactive', correlationId: visit.correlationId, audit: () => [row] } as const
  await deps.unitOfWork.run(options, async () => undefined)
}

function outcomeOf({ status }: Problem): 'permission_denied' | 'not_found' | 'invariant_violation' {
  if (status === 401 || status === 403) return 'permission_denied'
  return status === 404 ? 'not_found' : 'invariant_violation'
}
