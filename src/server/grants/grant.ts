import type { Grant } from '../../shared/contract/grants.ts'
import { problem } from '../../shared/problems.ts'
import { ROLES } from '../../shared/roles.ts'
import type { PagePosition } from '../http/request-context.ts'
import type { GrantObject, GrantRange, GrantRecord } from './store.ts'

type GrantAnswer = (typeof Grant)['_zod']['output']

/**
 * The relation, if it is a role that can be granted on the object. Parent edges and permissions are none.
 * @throws Problem `invalid_triple`, naming the roles.
 */
export function requireRole({ type }: GrantObject, relation: string): string {
  const roles = ROLES[type] ?? []
  if (roles.includes(relation)) return relation
  const detail = `must be a role of the ${type}: ${roles.join(', ')}`
  throw problem('invalid_triple', {
    part: 'relation',
    reason: 'not_allowed',
    errors: [{ pointer: '/relation', detail }],
  })
}

/** The object as a reference: `domain:<id>` or `platform:main`. */
export function referenceOf({ type, id }: GrantObject): string {
  return `${type}:${id}`
}

/** Sort key of a grant in lists. */
export function positionOf({ created_at, id }: GrantRecord): PagePosition {
  return [String(created_at.getTime()), id]
}

/** The end of the page before, from its position. */
export function afterOf(position: PagePosition | undefined): GrantRange['after'] {
  const [millis, id] = position ?? []
  return millis === undefined || id === undefined ? undefined : { createdAt: new Date(Number(millis)), id }
}

/** The tuple as the API shows it. */
export function toAnswer(grant: GrantRecord): GrantAnswer {
  const userset = grant.subject_relation === '' ? '' : `#${grant.subject_relation}`
  return {
    id: grant.id,
    subject: `${grant.subject_type}:${grant.subject_id}${userset}`,
    relation: grant.relation,
    resource: `${grant.resource_type}:${grant.resource_id}`,
    created_at: grant.created_at.toISOString(),
  }
}
