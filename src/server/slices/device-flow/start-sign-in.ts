import { Problem, problem } from '../../../shared/problems.ts'
import type { Cookie } from '../../http/cookies.ts'
import { firstArrival } from '../../http/pages/first-arrival.ts'
import type { PageAnswer, PageVisit } from '../../http/pages/pages.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { WhereToSignIn } from '../../ports/idp-bindings.ts'
import { askedIn, askedRecently, askingMembers, type AskedSignIn } from './asked-sign-in.ts'
import * as store from './store.ts'
import { choiceView, DEVICE_PATH, domainForm, noCookieView } from './views.ts'

/** A sign-in that a page begins. */
export interface SignInOrder {
  readonly where: WhereToSignIn
  /** A path on this origin. */
  readonly returnTo: string
  readonly asked?: AskedSignIn
  readonly visit: PageVisit
}

/** Begins a sign-in: returns the redirect target and the cookie that binds it to the browser. @throws Problem as choosing a binding does */
export type StartSignIn = (
  order: SignInOrder,
) => Promise<{ readonly location: string; readonly cookies: readonly Cookie[] }>

export interface StartSignInDeps {
  readonly datastore: Datastore
  /** Undefined where this server has no sign-in. */
  readonly startSignIn: StartSignIn | undefined
}

/** Marks the return address of a sign-in, so that a browser without cookies does not redirect forever. */
const RETURNED = 'returned'
/** Marks the return address of a sign-in that a device asked for, so that the page can say that it did not help. */
const STEPPED_UP = 'stepped_up'
/** Marks an address reached from a form: the policy of a page keeps forms on this origin, redirects included. */
const BY_FORM = 'choose'
/** Requests a sign-in although there is a session. */
export const SIGN_IN = 'sign_in'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const PLACE = {
  domain_id: UUID,
  domain: SLUG,
  idp_binding_id: UUID,
  idp_binding_alias: SLUG,
} as const satisfies { readonly [Name in keyof WhereToSignIn]-?: RegExp }

/**
 * Answers a visitor who is signed out: starts the sign-in, or offers a choice of providers. The code is not looked up before
 * somebody is signed in, so that strangers learn nothing of it.
 */
export async function signedOut(deps: StartSignInDeps, visit: PageVisit): Promise<PageAnswer> {
  const arrival = firstArrival(visit)
  if (arrival !== undefined) return arrival
  if (visit.query.has(RETURNED)) return { document: noCookieView(address(kept(visit.query))) }
  return signIn(deps, { visit, where: whereOf(visit.query), asked: askedIn(visit.query) })
}

/** Whether the visitor comes from a sign-in that a device asked for. */
export function hasSteppedUp({ query }: PageVisit): boolean {
  return query.has(STEPPED_UP)
}

/** Starts another sign-in for somebody who has a session: with their own Domain, and with a prompt at the provider. */
export function signInAgain(deps: StartSignInDeps, visit: PageVisit, session: Caller): Promise<PageAnswer> {
  const asked = whereOf(visit.query)
  const where =
    asked.domain_id === undefined && asked.domain === undefined ? { ...asked, domain_id: session.domainId } : asked
  return signIn(deps, { visit, where, asked: askedRecently(visit.query) })
}

const CHOOSING: ReadonlySet<string> = new Set([
  'domain_required',
  'multiple-bindings',
  'idp_binding_not_found',
  'alias-not-found',
])

/** @throws Problem `sign_in_not_provisioned`, `idp_unavailable` */
async function signIn(deps: StartSignInDeps, order: Omit<SignInOrder, 'returnTo'>): Promise<PageAnswer> {
  const { visit, where } = order
  if (deps.startSignIn === undefined) throw problem('sign_in_not_provisioned')
  if (visit.query.has(BY_FORM)) return choose(deps, visit, where)
  const isStronger = askingMembers(visit.query).length > 0
  const marks = [[RETURNED, '1'] as const, ...(isStronger ? [[STEPPED_UP, '1'] as const] : [])]
  const returnTo = address(new Map([...kept(visit.query), ...marks]))
  try {
    return await deps.startSignIn({ ...order, returnTo })
  } catch (error) {
    if (error instanceof Problem && CHOOSING.has(error.code)) return choose(deps, visit, where)
    throw error
  }
}

async function choose({ datastore }: StartSignInDeps, visit: PageVisit, where: WhereToSignIn): Promise<PageAnswer> {
  const db = datastore.pool('interactive')
  const domainId = where.domain_id ?? (await named(db, where.domain))
  const choices = domainId === undefined ? [] : await store.bindingChoices(db, domainId)
  const members = kept(visit.query)
  if (visit.query.has(SIGN_IN)) members.set(SIGN_IN, '1')
  if (choices.length === 0 || domainId === undefined) {
    const isNamed = where.domain_id !== undefined || where.domain !== undefined
    members.delete('domain')
    members.delete('domain_id')
    members.set(BY_FORM, '1')
    return { document: domainForm(members, isNamed ? 'There is no way to sign in to that Domain.' : undefined) }
  }
  members.delete('domain')
  members.delete('idp_binding_alias')
  const hrefOf = (id: string): string => address(new Map([...members, ['domain_id', domainId], ['idp_binding_id', id]]))
  return { document: choiceView(choices.map((choice) => ({ ...choice, href: hrefOf(choice.id) }))) }
}

function named(db: Parameters<typeof store.onlyDomain>[0], slug: string | undefined): Promise<string | undefined> {
  return slug === undefined ? store.onlyDomain(db) : store.domainBySlug(db, slug)
}

/** Members of a query that may be repeated: code, Domain and what the sign-in must be, where they are well formed. */
function kept(query: URLSearchParams): Map<string, string> {
  const code = query.get('user_code')?.slice(0, 64)
  const members = new Map([...Object.entries(whereOf(query)), ...askingMembers(query)])
  if (code !== undefined) members.set('user_code', code)
  return members
}

function whereOf(query: URLSearchParams): WhereToSignIn & Readonly<Record<string, string>> {
  const members = Object.entries(PLACE).flatMap(([name, form]) => {
    const value = query.get(name)?.trim()
    return value !== undefined && form.test(value) ? [[name, value] as const] : []
  })
  return Object.fromEntries(members)
}

/** The page with those members. */
export function address(members: ReadonlyMap<string, string>): string {
  const query = new URLSearchParams([...members]).toString()
  return query === '' ? DEVICE_PATH : `${DEVICE_PATH}?${query}`
}
