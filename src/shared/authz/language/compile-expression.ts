import type { Expression } from '../model.ts'
import type { ExpressionNode } from './ast.ts'
import { NOTHING, type ModelDraft, type TypeDraft } from './draft.ts'
import { SchemaError } from './schema-error.ts'

/** Resolves the names of a permission's expression; runs of one operator become one node. */
export function compileExpression(node: ExpressionNode, type: TypeDraft, model: ModelDraft): Expression {
  switch (node.kind) {
    case 'nil':
    case 'self':
      return { ...NOTHING, op: node.kind }
    case 'reference':
      return { ...NOTHING, op: 'reference', reference: memberOf(type, node) }
    case 'arrow':
      return compileArrow(node, type, model)
    default:
      return compileBinary(node, type, model)
  }
}

type BinaryNode = Extract<ExpressionNode, { left: unknown }>

function compileBinary(node: BinaryNode, type: TypeDraft, model: ModelDraft): Expression {
  const left = compileExpression(node.left, type, model)
  const right = compileExpression(node.right, type, model)
  const isRun = node.kind !== 'exclusion' && left.op === node.kind
  return { ...NOTHING, op: node.kind, parts: isRun ? [...left.parts, right] : [left, right] }
}

function memberOf(type: TypeDraft, node: Extract<ExpressionNode, { kind: 'reference' }>) {
  const member = type.members.get(node.name)
  if (member !== undefined) return member
  throw new SchemaError(node.at, `expected a relation or permission of "${type.name}", found "${node.name}"`)
}

function compileArrow(
  node: Extract<ExpressionNode, { kind: 'arrow' }>,
  type: TypeDraft,
  model: ModelDraft,
): Expression {
  const tupleset = type.members.get(node.relation)
  if (tupleset?.kind !== 'relation') {
    throw new SchemaError(node.at, `expected a relation of "${type.name}" before "->", found "${node.relation}"`)
  }
  if (tupleset.subjects.some((subject) => subject.kind === 'wildcard')) {
    throw new SchemaError(node.at, `expected a relation without wildcards before "->", found "${node.relation}"`)
  }
  const targets = model.types.map((target) => target.members.get(node.target))
  return { ...NOTHING, op: 'arrow', tupleset, targets }
}
