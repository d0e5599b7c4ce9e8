import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'

/** API tokens, node secret keys and join tokens (decisions: Credentials), whole: an id alone is no secret. */
const OWN =
  /\b(psk|jtk)_[a-z0-9]{1,16}_[0-9a-f]{32}_[A-Za-z0-9]{8,}|\bnsk_[a-z0-9]{1,16}_[0-9a-f]{32}_[A-Za-z0-9]{8}_[\w-]{8,}/
/** A signed JSON Web Token (RFC 7515 §3.1). */
const JWT = /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/
const SECRET = new RegExp(`${OWN.source}|${JWT.source}`, 'g')

const HIDDEN_HEADERS = new Set(['authorization', 'cookie', 'set-cookie', 'x-csrf-token', 'proxy-authorization'])
const HIDDEN_MEMBERS =
  /^(token|nsk|access_token|refresh_token|id_token|client_secret|client_assertion|assertion|password|device_code|secret)$/

const HIDDEN = '[redacted]'

/** Tells whether a text contains a credential. */
export function holdsSecret(text: string): boolean {
  return OWN.test(text) || JWT.test(text)
}

/** The first argument that carries a secret, by position from 1; undefined when none does. */
export function secretArgument(argv: readonly string[]): number | undefined {
  const index = argv.findIndex((word) => holdsSecret(word) || /^--(token|password|secret)=/.test(word))
  return index < 0 ? undefined : index + 1
}

/** A text without its credentials. */
export function redactText(text: string): string {
  return text.replace(SECRET, HIDDEN)
}

/** Headers without credentials; the scheme of an Authorization header stays. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    if (!HIDDEN_HEADERS.has(name.toLowerCase())) return [name, redactText(value)]
    return [name, /^[A-Za-z]+ /.test(value) ? `${value.split(' ')[0] ?? ''} ${HIDDEN}` : HIDDEN]
  })
  return Object.fromEntries(shown)
}

/** The members of an operation's body that hold secrets, as the contract says: `writeOnly`. */
export function secretMembersOf(operation: Pick<ManifestOperation, 'body'> | undefined): readonly string[] {
  return (operation?.body?.fields ?? []).flatMap(({ name, writeOnly }) => (writeOnly === true ? [name] : []))
}

/**
 * A body without credentials: its `secretMembers`, whatever they hold, members that hold them by name at any depth, and
 * anything that looks like one.
 */
export function redactBody(body: string, secretMembers: readonly string[] = []): string {
  try {
    return JSON.stringify(redactValue(withoutMembers(JSON.parse(body), secretMembers)))
  } catch {
    return redactText(body) // Not JSON, so there are no members to go by.
  }
}

function withoutMembers(body: unknown, members: readonly string[]): unknown {
  if (typeof body !== 'object' || body === null) return body
  const named = members.filter((name) => Object.hasOwn(body, name))
  return named.length === 0 ? body : { ...body, ...Object.fromEntries(named.map((name) => [name, HIDDEN])) }
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map(redactValue)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    HIDDEN_MEMBERS.test(name) && typeof member === 'string' ? HIDDEN : redactValue(member),
  ])
  return Object.fromEntries(members)
}
