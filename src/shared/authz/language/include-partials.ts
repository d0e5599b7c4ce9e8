import type { DefinitionNode, NameNode, SchemaNode } from './ast.ts'
import { checkSubjectTypeName, checkTargetName } from './name-rules.ts'
import { SchemaError } from './schema-error.ts'

/** Maximum of members that partials add to a schema: nested partials can double them at each level. */
const MEMBERS_MAX = 100_000

/** Maximum nesting of partials. */
const DEPTH_MAX = 100

/**
 * Adds the members of the included partials to every definition.
 * @throws SchemaError for a partial that is unknown, defined twice, named like a definition or caveat, or part of
 * itself.
 */
export function includePartials(schema: SchemaNode): readonly DefinitionNode[] {
  if (schema.partials.length === 0 && schema.definitions.every(({ includes }) => includes.length === 0)) {
    return schema.definitions
  }
  const partials = named(schema)
  const whole = new Map<string, DefinitionNode>()
  const open = new Set<string>()
  let members = 0

  function partialOf({ name, at }: NameNode): DefinitionNode {
    const known = whole.get(name)
    if (known !== undefined) return known
    const partial = partials.get(name)
    if (partial === undefined) throw new SchemaError(at, `expected a defined partial, found "${name}"`)
    if (open.has(name)) throw new SchemaError(at, `expected a partial that is not part of itself, found "${name}"`)
    if (open.size === DEPTH_MAX) throw new SchemaError(at, `expected partials nested at most ${DEPTH_MAX} deep`)
    open.add(name)
    const complete = completed(partial)
    open.delete(name)
    whole.set(name, complete)
    return complete
  }

  function completed(definition: DefinitionNode): DefinitionNode {
    const taken = definition.includes.map((reference) => {
      const partial = partialOf(reference)
      members += partial.relations.length + partial.permissions.length
      if (members > MEMBERS_MAX)
        throw new SchemaError(reference.at, `expected at most ${MEMBERS_MAX} members of partials`)
      return partial
    })
    return {
      ...definition,
      relations: [...definition.relations, ...taken.flatMap(({ relations }) => relations)],
      permissions: [...definition.permissions, ...taken.flatMap(({ permissions }) => permissions)],
      includes: [],
    }
  }

  for (const partial of schema.partials) checkNames(partialOf(partial))
  return schema.definitions.map(completed)
}

/** @throws SchemaError for a duplicate name. */
function named({ partials, definitions, caveats }: SchemaNode): ReadonlyMap<string, DefinitionNode> {
  const byName = new Map<string, DefinitionNode>()
  const others = new Set([...definitions, ...caveats].map(({ name }) => name))
  for (const partial of partials) {
    const isTaken = byName.has(partial.name) || others.has(partial.name)
    if (isTaken) throw new SchemaError(partial.at, `expected a new name, "${partial.name}" is defined already`)
    byName.set(partial.name, partial)
  }
  return byName
}

/** In partials that no definition includes, SpiceDB checks only the names. */
function checkNames({ relations, permissions }: DefinitionNode): void {
  for (const { name, at } of [...relations, ...permissions]) checkTargetName(name, at)
  for (const { type, at } of relations.flatMap(({ subjects }) => subjects)) checkSubjectTypeName(type, at)
}
