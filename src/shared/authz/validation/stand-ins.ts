import type { DefinitionNode, SchemaNode } from '../language/ast.ts'

/** A schema with a further type, of which one object stands for the members of a set. */
export interface StandIns {
  readonly schema: SchemaNode
  readonly type: string
  /** The relation by which the stand-in is put into a relation or permission; undefined where there is none of that name. */
  relationFor(type: string, member: string): string | undefined
}

/**
 * Adds a type that every relation takes, and beside every permission a relation that takes only it. Whether the members
 * of `group:eng` as such hold something is then asked for one of them of whom nothing else is known: no wildcard covers
 * it, and no other tuple names it.
 */
export function withStandIns(schema: SchemaNode): StandIns {
  const type = freshName(schema)
  const relations = new Map<string, string>()
  const definitions = schema.definitions.map((definition) => opened(definition, type, relations))
  const [first] = definitions
  const at = first?.at ?? { line: 1, column: 1 }
  return {
    schema: { ...schema, definitions: [...definitions, { name: type, at, relations: [], permissions: [] }] },
    type,
    relationFor: (name, member) => relations.get(`${name}#${member}`),
  }
}

function opened(definition: DefinitionNode, type: string, relations: Map<string, string>): DefinitionNode {
  const { at, name } = definition
  const subjects = [{ type, at, relation: undefined, wildcard: false, caveat: undefined }]
  const own = definition.relations.map((relation) => {
    relations.set(`${name}#${relation.name}`, relation.name)
    return { ...relation, subjects: [...relation.subjects, ...subjects] }
  })
  const added = definition.permissions.map((permission, index) => {
    const relation = `${type}_${index}`
    relations.set(`${name}#${permission.name}`, relation)
    return { name: relation, at, subjects, structural: false }
  })
  const permissions = definition.permissions.map((permission, index) => {
    const right = { kind: 'reference', name: `${type}_${index}`, at } as const
    return { ...permission, expression: { kind: 'union', left: permission.expression, right, at } as const }
  })
  return { ...definition, relations: [...own, ...added], permissions }
}

/** A name that nothing in the schema begins with. */
function freshName({ definitions }: SchemaNode): string {
  const names = definitions.flatMap(({ name, relations, permissions }) => [
    name,
    ...relations.map((each) => each.name),
    ...permissions.map((each) => each.name),
  ])
  for (let count = 0; ; count++) {
    const candidate = `standin${count}`
    if (!names.some((name) => name.startsWith(candidate))) return candidate
  }
}
