import type { Askable, Expression, Model, TypeModel } from '../../model.ts'

/** By relation or permission of the model: whether subjects of the type can be found below it. */
export type SubjectReach = Uint8Array

/** Tells which relations and permissions can have subjects of the type at all; walks pass by all others. */
export function subjectReach({ types }: Model, type: TypeModel): SubjectReach {
  const members = types.flatMap(({ relations, permissions }) => [...relations, ...permissions])
  const reach = new Uint8Array(members.length)
  for (let found = 1; found > 0;) {
    const more = members.filter((member) => reach[member.id] === 0 && leadsTo(member, type, reach))
    for (const { id } of more) reach[id] = 1
    found = more.length
  }
  return reach
}

function leadsTo(member: Askable, type: TypeModel, reach: SubjectReach): boolean {
  if (member.kind === 'permission') return isReached(member.expression, { member, type, reach })
  return member.subjects.some((rule) =>
    rule.relation === undefined ? rule.type === type : reach[rule.relation.id] === 1,
  )
}

interface Place {
  readonly member: Askable
  readonly type: TypeModel
  readonly reach: SubjectReach
}

function isReached(expression: Expression, place: Place): boolean {
  const { op, parts, reference, targets } = expression
  if (op === 'self') return place.member.type === place.type
  if (reference !== undefined) return place.reach[reference.id] === 1
  if (targets.some((target) => target !== undefined && place.reach[target.id] === 1)) return true
  return parts.some((part) => isReached(part, place))
}
