import type { Grant } from '../../shared/contract/grants.ts'
import type { PagePosition } from '../http/request-context.ts'
import type { GrantObject, GrantRange, GrantRecord } from './store.ts'

type GrantAnswer = (typeof Grant)['_zod']['output']

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
