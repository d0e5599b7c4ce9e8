import type { CaveatModel, SubjectRule } from '../model.ts'
import type { DefinitionNode, SubjectTypeNode } from './ast.ts'
import { compileExpression } from './compile-expression.ts'
import type { MemberDraft, ModelDraft, TypeDraft } from './draft.ts'
import { checkSubjectTypeName } from './name-rules.ts'
import { SchemaError } from './schema-error.ts'

/** Resolves the subject types and expressions of a type, after every name is declared. */
export function resolveMembers(model: ModelDraft, type: TypeDraft, definition: DefinitionNode): void {
  for (const [slot, relation] of type.relations.entries()) {
    const seen = new Set<string>()
    for (const node of definition.relations[slot]?.subjects ?? []) {
      relation.subjects.push(resolveSubject(model, node))
      const size = seen.size
      if (seen.add(subjectKey(node)).size > size) continue
      throw new SchemaError(node.at, `expected each subject type once, "${node.type}" is repeated`)
    }
  }
  for (const { name, expression } of definition.permissions) {
    const permission = type.members.get(name)
    if (permission?.kind === 'permission') permission.expression = compileExpression(expression, type, model)
  }
}

/** A key that equal subject types share. */
function subjectKey({ type, relation, wildcard, caveat, expires }: SubjectTypeNode): string {
  return JSON.stringify([type, relation, wildcard, caveat, expires])
}

function resolveSubject(model: ModelDraft, node: SubjectTypeNode): SubjectRule {
  const type = model.byName.get(node.type)
  if (type === undefined) throw new SchemaError(node.at, `expected a defined type, found "${node.type}"`)
  checkSubjectTypeName(node.type, node.at)
  const relation = resolveUserset(type, node)
  const kind = node.wildcard ? 'wildcard' : relation === undefined ? 'object' : 'userset'
  return { type, kind, relation, caveat: resolveCaveat(model, node), expires: node.expires }
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
