import { isNonZeroUuid } from './ids.ts'

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

/** Writes the subject as a tuple holds it. */
export function formatRoleSubject({ type, id }: RoleSubject): string {
  return type === 'group' ? `group:${id}#member` : `${type}:${id}`
}
