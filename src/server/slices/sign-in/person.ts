import type { IdpBinding } from '../../ports/idp-bindings.ts'

/** The claims of an ID token and of the userinfo. */
export type Claims = Readonly<Record<string, unknown>>

/** A person as the identity provider describes them. */
export interface Person {
  readonly subject: string
  /** Lower case, and verified by the provider; an address that is not verified counts as none. */
  readonly email: string | undefined
  readonly name: string | undefined
  readonly groups: readonly string[]
  /** What the Domain claim names, by slug or id. */
  readonly domains: readonly string[]
}

type Binding = Pick<IdpBinding, 'claims'>

/** The claims that may come from userinfo, too. The subject, and the method and time of authentication, may not. */
function tellableOf({ claims: { email, name, groups, domain } }: Binding): readonly string[] {
  return [email, name, groups, domain].filter((each) => each !== null)
}

/** Whether an ID token has all claims that the binding reads. */
export function isWhole(binding: Binding, claims: Claims): boolean {
  return tellableOf(binding).every((name) => claims[name] !== undefined)
}

/** The claims of an ID token with what userinfo adds. The source of the address is also the source of its verification. */
export function joinedClaims(binding: Binding, claims: Claims, userinfo: Claims): Claims {
  const added = tellableOf(binding).filter((name) => claims[name] === undefined)
  const { email_verified } = claims[binding.claims.email] === undefined ? userinfo : claims
  return { ...claims, ...Object.fromEntries(added.map((name) => [name, userinfo[name]])), email_verified }
}

const SUBJECT_MAX = 255
const EMAIL_MAX = 254
const NAME_MAX = 128
/** Maximum of groups; no provider puts more into a token. */
const GROUPS_MAX = 10_000
const GROUP_MAX = 256

/** Reads the claims that the binding names. Undefined without a usable subject, or with too many groups. */
export function personOf({ claims: names }: Binding, claims: Claims): Person | undefined {
  const subject = claims[names.subject]
  const groups = textsOf(claims, names.groups)
  if (typeof subject !== 'string' || !isSubject(subject) || groups.length > GROUPS_MAX) return undefined
  return {
    subject,
    email: isVerified(claims) ? emailOf(claims[names.email]) : undefined,
    name: nameOf(claims[names.name]),
    groups: groups.filter((group) => group.length <= GROUP_MAX && !/\p{Cc}/u.test(group)),
    domains: textsOf(claims, names.domain),
  }
}

function isSubject(text: string): boolean {
  return text.length > 0 && text.length <= SUBJECT_MAX && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** OpenID Connect Core §5.1; some providers send the string. */
function isVerified({ email_verified: verified }: Claims): boolean {
  return verified === true || verified === 'true'
}

/**
 * ASCII alone: letters beyond it that become ASCII in lower case (K, the Kelvin sign) would make somebody else's address
 * out of one that was verified.
 */
function emailOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > EMAIL_MAX || !/^[!-?A-~]+@[!-?A-~]+$/.test(value)) return undefined
  return value.toLowerCase()
}

/** Everybody who may read the Domain sees the name, so that a text that looks like an address is dropped. */
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.includes('@')) return undefined
  const clean = value
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  const name = Array.from(clean).slice(0, NAME_MAX).join('').trim()
  return name === '' ? undefined : name
}

/** A claim of one text or several; none where the binding names no such claim. */
function textsOf(claims: Claims, name: string | null): readonly string[] {
  const value = name === null ? undefined : claims[name]
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
}
