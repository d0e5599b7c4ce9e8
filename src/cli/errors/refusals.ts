import type { ProblemAnswer } from '../../client/failures.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { listCommand, listOf } from '../session/noun-lists.ts'
import { isRow, memberOf } from '../output/members.ts'
import { APPROVAL_HINTS, noDecider } from './approval-hints.ts'
import { BRIDGE_HINTS } from './bridge-hints.ts'
import { CATALOGUE_HINTS } from './catalogue-hints.ts'
import type { Hints, Refusal } from './hints.ts'
import { LABEL_HINTS } from './label-hints.ts'
import { memberErrors } from './member-errors.ts'
import { POLICY_HINTS } from './policy-hints.ts'
import { ROLLOUT_HINTS } from './rollout-hints.ts'
import { requiredSignIn, signInCommand } from './required-sign-in.ts'
import { grantCommand, seeingRelation } from './role-hints.ts'
import type { Session } from '../session/session.ts'

/** What a command could not do, and why the server refused. */
export async function refusalMessage(problem: ProblemAnswer, session: Session, words: string): Promise<string> {
  const missing = missingRelation(problem)
  if (missing === undefined) return `${words}: ${problem.detail}`
  const { subject, relation, object } = missing
  const undecided = await noDecider(problem, session)
  if (undecided !== undefined) return `${words}: ${undecided.message}`
  if (problem.document['reason'] === 'out_of_scope') return `${words}: ${outOfScope(problem, session)}`
  if (await maySee(session, missing)) return `${words}: ${subject} lacks ${relation} on ${object}`
  return `${words}: ${object} was not found, or you may not see it (${subject} would need ${relation})`
}

/** What to do next, most specific first. */
export async function refusalHints(
  problem: ProblemAnswer,
  session: Session,
  words: string,
): Promise<readonly string[]> {
  const undecided = await noDecider(problem, session)
  if (undecided !== undefined) return [undecided.hint]
  const special = BY_CODE[problem.code] ?? BY_STATUS[problem.status]
  const next = (await special?.({ problem, session, words })) ?? []
  const useful = next.filter((hint) => !namesAgain(hint, words))
  return [
    ...memberErrors({ problem, session, words }),
    ...counts(problem),
    ...useful,
    ...(await grantHints({ problem, session, words })),
  ]
}

/** Whether a hint names the very command that was refused: it would be refused again. Its help is another thing. */
function namesAgain(hint: string, words: string): boolean {
  if (words === '' || hint.includes('--help')) return false
  return [...hint.matchAll(/\bctl ([a-z][a-z -]*[a-z])/g)].some(([, named = '']) => `${named} `.startsWith(`${words} `))
}

const waiting: Hints = ({ problem: { retryAfterSeconds } }) =>
  retryAfterSeconds === undefined ? ['Try again in a moment.'] : [`Try again in ${retryAfterSeconds} s.`]

/** Which rule of several was broken. */
const reason: Hints = ({ problem: { document } }) =>
  typeof document['reason'] === 'string' ? [`  ${document['reason']}`] : []

const BY_STATUS: Readonly<Record<number, Hints>> = {
  401: signInHints,
  403: scopeHints,
  404: listHints,
  429: waiting,
  501: () => ['The server lacks the configuration for this; its operator can tell more.'],
  502: () => ['A proxy in front of the server could not reach it.'],
  503: async (refusal) => [...(await waiting(refusal)), 'How the server is: ctl status'],
}

const BY_CODE: Readonly<Record<string, Hints>> = {
  ...APPROVAL_HINTS,
  ...BRIDGE_HINTS,
  ...CATALOGUE_HINTS,
  ...LABEL_HINTS,
  ...POLICY_HINTS,
  ...ROLLOUT_HINTS,
  capacity_not_sampled: waiting,
  capacity_exceeded: async (refusal) => [
    ...(await waiting(refusal)),
    `See what the Domain uses of its ${dimensionOf(refusal)}: ctl capacity show`,
  ],
  slug_conflict: ({ words }) => [slugHint(words)],
  tuple_already_exists: () => ['Nothing needs to be done: it is granted already.'],
  idp_binding_not_found: (refusal) => signInPlaceHints(refusal) ?? providerHints(refusal),
  'alias-not-found': (refusal) => signInPlaceHints(refusal) ?? providerHints(refusal),
  'multiple-bindings': (refusal) => signInPlaceHints(refusal) ?? [],
  empty_patch: ({ words }) => [`Name something to change: ctl ${words} --help`],
  invalid_idp_binding: reason,
  idp_binding_conflict: reason,
  invalid_scope: ({ session }) => [
    `A scope is *, or one of these with :read or :write: ${session.manifest().surfaces.join(', ')}.`,
  ],
  topology_filter_required: () => ['Add --node NODE to see the edges of one node.'],
  epoch_filter_required: () => ['Name nodes with --node A,B, or choose some with -l SELECTOR; 1,000 at most.'],
  invalid_join_token: () => ['Make one that is good: ctl join-tokens create'],
  scope_exceeds_caller: () => ['See what your own credential may: ctl whoami'],
  step_up_required: ({ problem }) => [`Sign in as it asks: ${signInCommand(requiredSignIn(problem))}`],
  internal: () => ['The log of the server has the reason under the correlation id.'],
  unexpected_answer: () => ['Is that the address of a ctl server? See: ctl config view --show-origin'],
}

/** In a bridge, the host of an ingress rule is an identity as its slug is. */
function slugHint(words: string): string {
  const noun = words.split(' ').slice(0, -1).join(' ')
  return `Choose another slug${noun === 'bridge ingress' ? ' or host' : ''}; those taken: ctl ${noun} list`
}

function listHints({ session, words }: Refusal): readonly string[] {
  const noun = words.split(' ')[0] ?? ''
  return listOf(session.manifest(), noun) ? [`See what there is: ctl ${listCommand(noun)}`] : []
}

/** Where a sign-in did not find its Domain or its provider; undefined for other commands. */
function signInPlaceHints({ words }: Refusal): readonly string[] | undefined {
  if (words !== 'login') return undefined
  return [
    '--domain takes the slug of a Domain, --idp the alias of its provider; the person who invited you knows them.',
  ]
}

/** The provider of a sign-in that is a part of another command is none of the objects of that command. */
function providerHints(refusal: Refusal): readonly string[] {
  if (refusal.problem.operationId !== 'PostAuthDeviceCode') return listHints(refusal)
  return ['See which identity providers the Domain has: ctl idp list']
}

async function signInHints({ session }: Refusal): Promise<readonly string[]> {
  const settings = await session.settings()
  const token = await settings.token()
  const why =
    token === undefined
      ? `You are not signed in to ${settings.url.value}.`
      : `The token from ${settings.tokenOrigin ?? 'nowhere'} is expired, revoked, disabled, or of another server.`
  return [why, 'Sign in: ctl login; in a script: ctl login --with-token < FILE']
}

function outOfScope({ operationId }: ProblemAnswer, session: Session): string {
  const scope = scopeOf(session, ({ id }) => id === operationId)
  return `the scopes of this token do not cover it${scope === undefined ? '' : `; it lacks ${scope}`}`
}

/** A command may call several operations: the scope of the refused one is added to those that the token has. */
async function scopeHints({ problem, session, words }: Refusal): Promise<readonly string[]> {
  if (problem.document['reason'] !== 'out_of_scope') return []
  const me = await session.whoami().catch(() => ({}))
  const held = memberOf(me, 'credential.scopes')
  const lacking = scopeOf(session, ({ id }) => id === problem.operationId)
  const needed = [
    ...(Array.isArray(held) ? held.map(String) : []),
    scopeOf(session, ({ cli }) => cli?.command === words),
    lacking,
  ]
  const scopes = [...new Set(needed.filter((scope) => scope !== undefined))].join(',') || 'A,B'
  const subject = memberOf(me, 'subject')
  const owner =
    typeof subject === 'string' && subject.startsWith('serviceaccount:') ? ` --for service:${subject.slice(15)}` : ''
  return [
    'See its scopes: ctl whoami',
    `With a credential that has more, issue another token: ctl tokens issue NAME --scopes ${scopes}${owner}`,
  ]
}

/** A command for somebody else. */
async function grantHints({ problem, session }: Refusal): Promise<readonly string[]> {
  const missing = missingRelation(problem)
  if (missing === undefined || problem.document['reason'] === 'out_of_scope') return []
  const command = (await maySee(session, missing)) ? grantCommand(missing) : undefined
  return command === undefined ? [] : [`Somebody with manage there can grant it: ${command}`]
}

/** What the scopes of a token need for an operation; undefined where there is none such. */
function scopeOf(session: Session, isMeant: (operation: ManifestOperation) => boolean): string | undefined {
  const operation = Object.values(session.manifest().operations).find(isMeant)
  return operation && `${operation.surface}:${operation.access}`
}

interface Missing {
  readonly subject: string
  readonly relation: string
  readonly object: string
}

/** The missing relation of a PermissionDenied body (S0 convention 3). */
function missingRelation({ document }: ProblemAnswer): Missing | undefined {
  const [subject, relation, object] = ['subject', 'relation', 'object'].map((member) =>
    memberOf(document['missing_relation'], member),
  )
  if (typeof subject !== 'string' || typeof relation !== 'string' || typeof object !== 'string') return undefined
  return { subject, relation, object }
}

/** Long enough for one check; the refusal must not wait for more. */
const CHECK_MS = 2000

/** Asks whether the subject may see the object; whatever goes wrong counts as no. */
async function maySee(session: Session, { subject, object }: Missing): Promise<boolean> {
  try {
    const caller = await session.caller()
    const body = { subject, relation: seeingRelation(object.split(':')[0] ?? ''), resource: object }
    const { value } = await caller.call(session.operation('PostAuthzCheck'), { body }, { timeoutMs: CHECK_MS })
    return memberOf(value, 'decision') === 'allowed'
  } catch {
    return false
  }
}

function counts({ document }: ProblemAnswer): readonly string[] {
  const held = document['counts']
  if (!isRow(held)) return []
  return Object.entries(held).flatMap(([what, count]) => (count === 0 ? [] : [`  ${what}: ${String(count)}`]))
}

/** A server of another version may not name it. */
function dimensionOf({ problem }: Refusal): string {
  const { dimension } = problem.document
  return typeof dimension === 'string' ? `target of ${dimension}` : 'targets'
}
