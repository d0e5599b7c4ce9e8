import type { CaveatModel, SubjectRule } from '../model.ts'
import type { DefinitionNode, SubjectTypeNode } from './ast.ts'
import { compileExpression } from './compile-expression.ts'
import type { MemberDraft, ModelDraft, TypeDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** Fills in the subject types and expressions of a type, once every name is declared. */
export function resolveMembers(model: ModelDraft, type: TypeDraft, definition: DefinitionNode): void {
  for (const [slot, relation] of type.relations.entries()) {
    for (const node of definition.relations[slot]?.subjects ?? []) {
      const rule = resolveSubject(model, node)
      if (relation.subjects.some((other) => isSameRule(other, rule))) {
        throw new SchemaError(node.at, `expected each subject type once, "${node.type}" is repeated`)
      }
      relation.subjects.push(rule)
    }
  }
  for (const { name, expression } of definition.permissions) {
    const permission = type.members.get(name)
    if (permission?.kind === 'permission') permission.expression = compileExpression(expression, type, model)
  }
}

function resolveSubject(model: ModelDraft, node: SubjectTypeNode): SubjectRule {
  const type = model.byName.get(node.type)
  if (type === undefined) throw new SchemaError(node.at, `expected a defined type, found "${node.type}"`)
  const relation = resolveUserset(type, node)
  const kind = node.wildcard ? 'wildcard' : relation === undefined ? 'object' : 'userset'
  return { type, kind, relation, caveat: resolveCaveat(model, node), expires: false }
}

function resolveUserset(type: TypeDraft, { relation, at }: SubjectTypeNode): MemberDraft | undefined {
  if (relation === undefined) return undefined
  const member = type.members.get(relation)
  if (member !== undefined) return member
  throw new SchemaError(at, `expected a relation or permission of "${type.name}", found "${relation}"`)
}

function resolveCaveat(model: ModelDraft, { caveat, at }: SubjectTypeNode): CaveatModel | undefined {
  if (caveat === undefined) return undefined
  const found = model.caveats.get(caveat)
  if (found !== undefined) return found
  throw new SchemaError(at, `expected a defined caveat, found "${caveat}"`)
}

function isSameRule(a: SubjectRule, b: SubjectRule): boolean {
  return (
    a.type === b.type &&
    a.kind === b.kind &&
    a.relation === b.relation &&
    a.caveat === b.caveat &&
    a.expires === b.expires
  )
}
