import type { Model } from '../model.ts'
import type { SchemaNode } from './ast.ts'
import { checkAnnotations } from './check-annotations.ts'
import { checkPermissionCycles, checkWildcards } from './check-model.ts'
import { declareCaveat, declareMembers, declareType } from './declare.ts'
import { createModelDraft } from './draft.ts'
import { resolveMembers } from './resolve.ts'
import { includePartials } from './include-partials.ts'

/**
 * Resolves the names of a parsed schema. `nameOf` returns the public name of a relation or permission. If a relation
 * and a permission of one type have the same public name, questions use the permission and tuples the relation.
 * @throws SchemaError for names that are unknown, duplicate or not allowed in their position, and for caveats whose
 * expression is not a condition over their fields.
 */
export function compileSchema(schema: SchemaNode, nameOf: (engineName: string) => string = (name) => name): Model {
  const definitions = includePartials(schema)
  const model = createModelDraft()
  for (const caveat of schema.caveats) declareCaveat(model, caveat)
  const types = definitions.map((definition) => ({ definition, type: declareType(model, definition) }))
  const numbering = { nameOf, next: 0 }
  for (const { type, definition } of types) declareMembers(type, definition, numbering)
  for (const { type, definition } of types) resolveMembers(model, type, definition)
  checkPermissionCycles(definitions, model)
  checkWildcards(definitions, model)
  if (schema.uses.includes('typechecking')) checkAnnotations(definitions, model)
  return model
}
