import type { Askable, Expression, Model, TypeModel } from '../../model.ts'

/** Whether subjects of one type are reachable, by the number of the relation or permission. */
export type SubjectReachability = Uint8Array

/** Finds the relations and permissions that can have subjects of the type; walks skip all others. */
export function subjectReachability({ types }: Model, type: TypeModel): SubjectReachability {
  const members = types.flatMap(({ relations, permissions }) => [...relations, ...permissions])
  const reach = new Uint8Array(members.length)
  for (let found = 1; found > 0;) {
    const more = members.filter((member) => reach[member.id] === 0 && leadsTo(member, type, reach))
    for (const { id } of more) reach[id] = 1
    found = more.length
  }
  return reach
}

function leadsTo(member: Askable, type: TypeModel, reach: SubjectReachability): boolean {
  if (member.kind === 'permission') return isReached(member.expression, { member, type, reach })
  return member.subjects.some((rule) =>
    rule.relation === undefined ? rule.type === type : reach[rule.relation.id] === 1,
  )
}

interface Target {
  readonly member: Askable
  readonly type: TypeModel
  readonly reach: SubjectReachability
}

function isReached(expression: Expression, target: Target): boolean {
  const { op, parts, reference, targets } = expression
  if (op === 'self') return target.member.type === target.type
  if (reference !== undefined) return target.reach[reference.id] === 1
  if (targets.some((each) => each !== undefined && target.reach[each.id] === 1)) return true
  return parts.some((part) => isReached(part, target))
}
