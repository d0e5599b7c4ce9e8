import { compileCaveat } from '../caveats/caveat-program.ts'
import { TYPE_NAMES } from '../caveats/check-expression.ts'
import type { CaveatModel, CaveatParameter } from '../model.ts'
import type { CaveatNode, DefinitionNode, PermissionNode, RelationNode } from './ast.ts'
import { NOTHING, type ModelDraft, type PermissionDraft, type RelationDraft, type TypeDraft } from './draft.ts'
import { checkMemberName, checkTypeName } from './name-rules.ts'
import { SchemaError, type Position } from './schema-error.ts'

/** @throws SchemaError for a duplicate name or field, and for an expression that is not a condition. */
export function declareCaveat(model: ModelDraft, { name, at, fields, expression, expressionAt }: CaveatNode): void {
  checkIsNew(model, name, at)
  const places = new Map<string, Position>()
  const parameters: CaveatParameter[] = []
  for (const { name: field, type, at: fieldAt } of fields) {
    if (TYPE_NAMES.has(field)) throw new SchemaError(fieldAt, `expected a field name that is no type, found "${field}"`)
    if (places.has(field)) throw new SchemaError(fieldAt, `expected a new field, "${field}" is one already`)
    places.set(field, fieldAt)
    parameters.push({ name: field, type })
  }
  const caveat: CaveatModel = { name, parameters, expression }
  compileCaveat(caveat, { expression: expressionAt, parameter: (field) => places.get(field) ?? at })
  model.caveats.set(name, caveat)
}

/** @throws SchemaError for a duplicate or malformed name. */
export function declareType(model: ModelDraft, { name, at }: DefinitionNode): TypeDraft {
  checkTypeName(name, at)
  checkIsNew(model, name, at)
  const index = model.types.length
  const maps = { writable: new Map(), askable: new Map(), members: new Map() }
  const type: TypeDraft = { index, name, relations: [], permissions: [], ...maps }
  model.types.push(type)
  model.byName.set(name, type)
  return type
}

function checkIsNew(model: ModelDraft, name: string, at: Position): void {
  if (!model.byName.has(name) && !model.caveats.has(name)) return
  throw new SchemaError(at, `expected a new name, "${name}" is defined already`)
}

interface Numbering {
  readonly nameOf: (engineName: string) => string
  next: number
}

/** Numbers the relations and permissions of a type, so that expressions can refer to later ones. */
export function declareMembers(type: TypeDraft, definition: DefinitionNode, numbering: Numbering): void {
  for (const node of definition.relations) declareRelation(type, node, numbering)
  for (const node of definition.permissions) declarePermission(type, node, numbering)
}

function declareRelation(type: TypeDraft, { name: engineName, at, structural }: RelationNode, numbering: Numbering) {
  checkMemberName(type, engineName, at)
  const name = numbering.nameOf(engineName)
  const slot = type.relations.length
  const id = numbering.next++
  const relation: RelationDraft = { kind: 'relation', id, type, name, engineName, slot, structural, subjects: [] }
  type.relations.push(relation)
  type.members.set(engineName, relation)
  type.writable.set(name, relation)
  type.askable.set(name, relation)
}

function declarePermission(type: TypeDraft, { name: engineName, at }: PermissionNode, numbering: Numbering) {
  checkMemberName(type, engineName, at)
  const name = numbering.nameOf(engineName)
  const id = numbering.next++
  const permission: PermissionDraft = { kind: 'permission', id, type, name, engineName, expression: NOTHING }
  type.permissions.push(permission)
  type.members.set(engineName, permission)
  type.askable.set(name, permission)
}
