import type { Grant } from '../../../shared/contract/grants.ts'
import { isNonZeroUuid, parseReference } from '../../../shared/ids.ts'
import { problem, type Problem } from '../../../shared/problems.ts'
import { ROLES } from '../../../shared/roles.ts'
import type { StoredTuple } from '../../ports/unit-of-work.ts'
import type { GrantObject } from './store.ts'

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

/**
 * The object that a grant of a Domain is on: the Domain, or the named node.
 * @throws Problem `invalid_triple` for anything but a node.
 */
export function objectIn(domainId: string, reference: string | undefined): GrantObject {
  if (reference === undefined || reference === `domain:${domainId}`) return { type: 'domain', id: domainId }
  const parsed = parseReference(reference)
  if (parsed?.type !== 'node' || !isNonZeroUuid(parsed.id)) throw foreignNode()
  return { type: 'node', id: parsed.id.toLowerCase() }
}

/** The refusal of an object that grants of a Domain cannot cover. */
export function foreignNode(): Problem {
  const detail = 'must be a node of the Domain that is in no Project; roles in a Project are relation tuples of it'
  return problem('invalid_triple', {
    part: 'resource',
    reason: 'not_allowed',
    errors: [{ pointer: '/resource', detail }],
  })
}

/** The object as a reference: `domain:<id>` or `platform:main`. */
export function referenceOf({ type, id }: GrantObject): string {
  return `${type}:${id}`
}

/** The tuple as the API shows it. */
export function toAnswer({ id, subject, relation, resource, createdAt }: StoredTuple): GrantAnswer {
  return { id, subject, relation, resource, created_at: createdAt.toISOString() }
}
