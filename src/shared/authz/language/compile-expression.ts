import type { Expression } from '../model.ts'
import type { ArrowNode, ExpressionNode, OperationNode } from './ast.ts'
import { NOTHING, type ModelDraft, type TypeDraft } from './draft.ts'
import { checkTargetName } from './name-rules.ts'
import { SchemaError } from './schema-error.ts'

/** Resolves the names of a permission's expression. Adjacent uses of one operator become one node. */
export function compileExpression(node: ExpressionNode, type: TypeDraft, model: ModelDraft): Expression {
  switch (node.kind) {
    case 'nil':
    case 'self':
      return { ...NOTHING, op: node.kind }
    case 'reference':
      return { ...NOTHING, op: 'reference', reference: memberOf(type, node) }
    case 'arrow':
    case 'all':
      return compileArrow(node, type, model)
    default:
      return compileOperation(node, type, model)
  }
}

function compileOperation({ kind, parts }: OperationNode, type: TypeDraft, model: ModelDraft): Expression {
  const compiled = parts.map((part) => compileExpression(part, type, model))
  if (kind === 'exclusion') return { ...NOTHING, op: kind, parts: exclusionParts(compiled) }
  const [first, ...rest] = compiled
  const isRun = first?.op === kind
  return { ...NOTHING, op: kind, parts: isRun ? [...first.parts, ...rest] : compiled }
}

/** `a - b - c` is `a - (b + c)`: exclusions have two parts. */
function exclusionParts(parts: readonly Expression[]): readonly Expression[] {
  const [base, ...excluded] = parts
  if (base === undefined || excluded.length < 2) return parts
  return [base, { ...NOTHING, op: 'union', parts: excluded }]
}

function memberOf(type: TypeDraft, node: Extract<ExpressionNode, { kind: 'reference' }>) {
  const member = type.members.get(node.name)
  if (member !== undefined) return member
  throw new SchemaError(node.at, `expected a relation or permission of "${type.name}", found "${node.name}"`)
}

function compileArrow(node: ArrowNode, type: TypeDraft, model: ModelDraft): Expression {
  const tupleset = type.members.get(node.relation)
  if (tupleset?.kind !== 'relation') {
    throw new SchemaError(node.at, `expected a relation of "${type.name}" before "->", found "${node.relation}"`)
  }
  checkTargetName(node.target, node.targetAt)
  return { ...NOTHING, op: node.kind, tupleset, targets: model.targetsOf(node.target, node.targetAt) }
}
