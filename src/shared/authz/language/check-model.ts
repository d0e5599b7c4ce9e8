import type { Askable, Expression } from '../model.ts'
import type { SchemaNode } from './ast.ts'
import type { ModelDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** @throws SchemaError where a permission is defined, on the same object, by itself. */
export function checkPermissionCycles(schema: SchemaNode, model: ModelDraft): void {
  for (const definition of schema.definitions) {
    for (const { name, at } of definition.permissions) {
      const permission = model.byName.get(definition.name)?.members.get(name)
      if (permission !== undefined && reaches(permission, permission, new Set())) {
        throw new SchemaError(at, `expected a permission that does not depend on itself, found "${name}"`)
      }
    }
  }
}

function reaches(from: Askable, goal: Askable, seen: Set<Askable>): boolean {
  if (from.kind === 'relation') return false
  return references(from.expression).some((next) => {
    if (next === goal) return true
    if (seen.has(next)) return false
    seen.add(next)
    return reaches(next, goal, seen)
  })
}

function references(expression: Expression): Askable[] {
  if (expression.reference !== undefined) return [expression.reference]
  return expression.parts.flatMap(references)
}

/** @throws SchemaError where a userset would bring in a wildcard: `group#member` while members may be `user:*`. */
export function checkWildcardUsersets(schema: SchemaNode, model: ModelDraft): void {
  const subjects = schema.definitions.flatMap(({ relations }) => relations.flatMap((relation) => relation.subjects))
  for (const { type, relation, at } of subjects) {
    const member = relation === undefined ? undefined : model.byName.get(type)?.members.get(relation)
    if (member === undefined || !includesWildcard(member, new Set())) continue
    throw new SchemaError(at, `expected a userset without wildcards, found "${type}#${relation}"`)
  }
}

function includesWildcard(member: Askable, seen: Set<Askable>): boolean {
  if (seen.has(member)) return false
  seen.add(member)
  if (member.kind === 'permission') return references(member.expression).some((next) => includesWildcard(next, seen))
  return member.subjects.some(
    ({ kind, relation }) => kind === 'wildcard' || (relation !== undefined && includesWildcard(relation, seen)),
  )
}
