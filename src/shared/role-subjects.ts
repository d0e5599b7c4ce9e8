import { isNonZeroUuid } from './ids.ts'
import { problem, type Problem } from './problems.ts'

/** Who may hold a role or be a member: one principal, or the members of a group. */
export interface RoleSubject {
  readonly type: 'user' | 'serviceaccount' | 'group'
  /** UUID, lower case. */
  readonly id: string
}

const FORM = /^(user|serviceaccount|group):([^:#]+)(#member)?$/

/**
 * Reads `user:<uuid>`, `serviceaccount:<uuid>` or `group:<uuid>#member`; undefined for anything else, wildcards and the
 * bare group among it. Ids may be in capitals, as everywhere.
 */
export function parseRoleSubject(text: string): RoleSubject | undefined {
  const [, type, id, relation] = FORM.exec(text) ?? []
  if (id === undefined || !isNonZeroUuid(id)) return undefined
  if ((type === 'group') !== (relation !== undefined)) return undefined
  return type === 'user' || type === 'serviceaccount' || type === 'group' ? { type, id: id.toLowerCase() } : undefined
}

/** Formats the subject as in a tuple. */
export function formatRoleSubject({ type, id }: RoleSubject): string {
  return type === 'group' ? `group:${id}#member` : `${type}:${id}`
}

/** @throws Problem `invalid_triple` when the text names neither a principal nor the members of a group. */
export function requireRoleSubject(text: string): RoleSubject {
  const subject = parseRoleSubject(text)
  if (subject !== undefined) return subject
  throw invalidSubject('malformed', 'must be user:<uuid>, serviceaccount:<uuid> or group:<uuid>#member')
}

/** The refusal of a subject that cannot be bound to the object. */
export function foreignSubject(): Problem {
  return invalidSubject('not_allowed', 'must exist, and belong to the Domain unless it holds a role on the platform')
}

function invalidSubject(reason: 'malformed' | 'not_allowed', detail: string): Problem {
  return problem('invalid_triple', { part: 'subject', reason, errors: [{ pointer: '/subject', detail }] })
}
