import { problem } from '../../../shared/problems.ts'
import type { PatchBody } from './binding.ts'
import type { BindingRecord } from './store.ts'

/** One rule for bindings, and the error sentence for a binding that breaks it. */
interface Rule {
  readonly isBroken: (binding: BindingRecord) => boolean
  readonly reason: string
}

const RULES: readonly Rule[] = [
  { isBroken: ({ issuer }) => !URL.canParse(issuer), reason: 'issuer must be a URL' },
  { isBroken: ({ issuer }) => hasUser(issuer), reason: 'issuer must not carry a user name or password' },
  {
    isBroken: ({ issuer, allow_private_network: isAllowed }) => isPlain(issuer) && !isAllowed && !isLoopback(issuer),
    reason: 'issuer must be an https: URL, unless allow_private_network is set or it is loopback',
  },
  {
    isBroken: ({ api_audience: audience, client_id: clientId }) => audience === clientId,
    reason: 'api_audience must differ from client_id: anyone who gets an ID token could call the API with it',
  },
  {
    isBroken: ({ domain_id: domainId, claims }) => domainId !== null && claims.domain !== null,
    reason: 'claims.domain is for platform-shared bindings; this one has its Domain',
  },
  {
    isBroken: ({ domain_id: domainId, api_audience: audience, claims }) =>
      domainId === null && audience !== null && claims.domain === null,
    reason: 'a platform-shared binding takes an api_audience only where claims.domain names the Domain',
  },
  {
    isBroken: ({ signs_in: signsIn, api_audience: audience }) => !signsIn && audience === null,
    reason: 'a binding that nobody signs in with takes an api_audience: it is for access tokens',
  },
  {
    isBroken: ({ signs_in: signsIn, is_primary: isPrimary }) => !signsIn && isPrimary,
    reason: 'a binding that nobody signs in with cannot be primary',
  },
]

/** @throws Problem `invalid_idp_binding` with the first rule that the binding breaks (decisions: Provisioning). */
export function assertSound(binding: BindingRecord): void {
  const broken = RULES.find(({ isBroken }) => isBroken(binding))
  if (broken !== undefined) throw invalid(broken.reason)
}

/**
 * Checks a change of a binding. The secret belongs to an issuer: if it were kept while the issuer changes,
 * anyone who may change the binding could have it sent to their own server.
 *
 * @throws Problem `invalid_idp_binding`
 */
export function assertMayBecome(from: BindingRecord, to: BindingRecord, body: PatchBody): void {
  assertSound(to)
  if (from.client_secret_sealed !== null && isMoved(from, to) && body.client_secret === undefined) {
    throw invalid('another issuer takes its own client_secret, or null: the one that is kept is not sent elsewhere')
  }
  if (from.is_bundled && FIXED.some((member) => JSON.stringify(from[member]) !== JSON.stringify(to[member]))) {
    throw invalid('the bundled provider knows its own issuer, client, algorithms and claims, and is for signing in')
  }
  if (from.is_bundled && body.client_secret !== undefined) throw invalid('the bundled provider has its own secret')
}

const FIXED = [
  'issuer',
  'client_id',
  'api_audience',
  'algorithms',
  'claims',
  'allow_private_network',
  'signs_in',
] as const

/** Whether the binding has another issuer now: sign-ins through the old issuer are then no longer valid. */
export function isMoved(from: BindingRecord, to: BindingRecord): boolean {
  return from.issuer !== to.issuer
}

/** Whether people sign in with the binding. */
const isOpen = ({ is_active, signs_in }: BindingRecord): boolean => is_active && signs_in

/** Whether no person who signed in with the former binding could do so again. */
export function endsSignIns(from: BindingRecord, to: BindingRecord): boolean {
  return (isOpen(from) && !isOpen(to)) || isMoved(from, to)
}

/**
 * Whether the binding makes this server reach into its own network where it did not before. That network is the
 * operator's, so a manager of a Domain does not decide it alone.
 */
export function reachesInside(from: BindingRecord | undefined, to: BindingRecord): boolean {
  return to.allow_private_network && (from === undefined || !from.allow_private_network || isMoved(from, to))
}

function invalid(reason: string): Error {
  return problem('invalid_idp_binding', { reason })
}

function hasUser(issuer: string): boolean {
  const { username, password } = new URL(issuer)
  return username !== '' || password !== ''
}

function isPlain(issuer: string): boolean {
  return new URL(issuer).protocol === 'http:'
}

function isLoopback(issuer: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(issuer).hostname)
}
