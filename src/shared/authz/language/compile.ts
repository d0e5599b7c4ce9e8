import type { Model } from '../model.ts'
import type { SchemaNode } from './ast.ts'
import { checkPermissionCycles, checkWildcardUsersets } from './check-model.ts'
import { declareCaveat, declareMembers, declareType } from './declare.ts'
import type { ModelDraft, TypeDraft } from './draft.ts'
import { resolveMembers } from './resolve.ts'

/**
 * Resolves the names of a parsed schema. `nameOf` gives what callers call each relation and permission; where a
 * relation and a permission of one type share that name, questions mean the permission and tuples the relation.
 * @throws SchemaError for names that are unknown, used twice or not allowed where they stand.
 */
export function compileSchema(schema: SchemaNode, nameOf: (engineName: string) => string = (name) => name): Model {
  const byName = new Map<string, TypeDraft>()
  const model: ModelDraft = { types: [], byName, caveats: new Map(), type: (name) => byName.get(name) }
  for (const caveat of schema.caveats) declareCaveat(model, caveat)
  const types = schema.definitions.map((definition) => ({ definition, type: declareType(model, definition) }))
  const numbering = { nameOf, next: 0 }
  for (const { type, definition } of types) declareMembers(type, definition, numbering)
  for (const { type, definition } of types) resolveMembers(model, type, definition)
  checkPermissionCycles(schema, model)
  checkWildcardUsersets(schema, model)
  return model
}
