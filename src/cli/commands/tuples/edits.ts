import type { Edit } from '../authz/impact-answer.ts'
import type { Target } from '../../derive/plan.ts'
import { isRow } from '../../output/members.ts'

/** What creating a tuple would be, for a preview. */
export function createEdit({ input }: Target): readonly Edit[] {
  const body = isRow(input['body']) ? input['body'] : {}
  return [{ kind: 'tuple', op: 'create', project_id: input['project_id'], ...body }]
}

/** What deleting a tuple would be. */
export function deleteEdit({ input }: Target): readonly Edit[] {
  return [{ kind: 'tuple', op: 'delete', tuple_id: input['id'] }]
}

/** What a grant on a Domain or a node of it, or on the platform where the call names none, would be. */
export function grantEdit(op: 'create' | 'delete', node?: string): (target: Target) => readonly Edit[] {
  return ({ input }) => {
    const { id, tuple_id, body } = input
    const place = typeof id === 'string' ? `domain:${id}` : 'platform:main'
    const resource = (isRow(body) ? body['resource'] : node) ?? place
    const what =
      op === 'delete' ? { tuple_id } : isRow(body) ? { subject: body['subject'], relation: body['relation'] } : {}
    return [{ kind: 'grant', op, resource, ...what }]
  }
}

/** What adding or removing a member would be. */
export function membershipEdit(op: 'create' | 'delete'): (target: Target) => readonly Edit[] {
  return ({ input }) => [
    { kind: 'membership', op, group: `group:${String(input['group_id'])}`, subject: input['subject'] },
  ]
}
