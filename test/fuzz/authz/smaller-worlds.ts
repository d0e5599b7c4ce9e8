import type {
  DefinitionDraft,
  ExpressionDraft,
  PermissionDraft,
  RelationDraft,
  RuleDraft,
  SchemaDraft,
} from './draft.ts'
import type { FuzzTuple, World } from './world.ts'

/** Worlds that lack something of this one, the greatest cuts first. Some make no sense; both engines then refuse them. */
export function* smallerWorlds(world: World): Generator<World> {
  for (const queries of cuts(world.queries)) if (queries.length > 0) yield { ...world, queries }
  for (const tuples of cuts(world.tuples)) yield { ...world, tuples }
  for (const definition of world.schema.definitions) yield withoutDefinition(world, definition.name)
  for (const schema of smallerSchemas(world.schema)) yield { ...world, schema }
  yield* withoutCaveats(world)
  yield* withSmallerContexts(world)
}

/** The list without its halves, quarters and so on down to single elements. */
function* cuts<T>(list: readonly T[]): Generator<T[]> {
  for (let size = Math.ceil(list.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < list.length; from += size) yield [...list.slice(0, from), ...list.slice(from + size)]
  }
}

/** The list with one element replaced by each of its smaller forms. */
function* changed<T>(list: readonly T[], smaller: (element: T) => Iterable<T>): Generator<T[]> {
  for (const [at, element] of list.entries()) {
    for (const each of smaller(element)) yield [...list.slice(0, at), each, ...list.slice(at + 1)]
  }
}

function withoutDefinition({ schema, tuples, queries }: World, name: string): World {
  const definitions = schema.definitions.filter((definition) => definition.name !== name)
  return {
    schema: { ...schema, definitions: definitions.map((definition) => withoutRules(definition, name)) },
    tuples: tuples.filter((tuple) => ![tuple.resource, tuple.subject].some((each) => each.startsWith(`${name}:`))),
    queries,
  }
}

function withoutRules(definition: DefinitionDraft, type: string): DefinitionDraft {
  const relations = definition.relations.map((relation) => {
    return { ...relation, rules: relation.rules.filter((rule) => rule.type !== type) }
  })
  return { ...definition, relations: relations.filter(({ rules }) => rules.length > 0) }
}

function* smallerSchemas(schema: SchemaDraft): Generator<SchemaDraft> {
  for (const definitions of changed(schema.definitions, smallerDefinitions)) yield { ...schema, definitions }
  for (const uses of cuts(schema.uses)) yield { ...schema, uses }
  for (const caveats of cuts(schema.caveats)) yield { ...schema, caveats }
}

function* smallerDefinitions(definition: DefinitionDraft): Generator<DefinitionDraft> {
  for (const permissions of cuts(definition.permissions)) yield { ...definition, permissions }
  for (const relations of cuts(definition.relations)) yield { ...definition, relations }
  for (const permissions of changed(definition.permissions, smallerPermissions)) yield { ...definition, permissions }
  for (const relations of changed(definition.relations, smallerRelations)) yield { ...definition, relations }
}

function* smallerPermissions(permission: PermissionDraft): Generator<PermissionDraft> {
  for (const expression of smallerExpressions(permission.expression)) yield { ...permission, expression }
}

function* smallerExpressions(expression: ExpressionDraft): Generator<ExpressionDraft> {
  if (expression.kind === 'leaf') return
  yield expression.left
  yield expression.right
  if (expression.enclosed) yield { ...expression, enclosed: false }
  for (const left of smallerExpressions(expression.left)) yield { ...expression, left }
  for (const right of smallerExpressions(expression.right)) yield { ...expression, right }
}

function* smallerRelations(relation: RelationDraft): Generator<RelationDraft> {
  if (relation.rules.length === 1) return
  for (const rules of cuts(relation.rules)) yield { ...relation, rules }
}

/** Each caveat, and then expiration, taken from rules and tuples alike. */
function* withoutCaveats(world: World): Generator<World> {
  for (const { name } of world.schema.caveats) {
    const rule = (each: RuleDraft) => (each.caveat === name ? { ...each, caveat: '' } : each)
    yield mapped(world, rule, (tuple) => (tuple.caveat === name ? bare(tuple) : tuple))
  }
  if (!world.schema.uses.includes('expiration')) return
  yield mapped(world, (rule) => ({ ...rule, expires: false }), withoutExpiry)
}

function bare({ resource, relation, subject, expires }: FuzzTuple): FuzzTuple {
  return { resource, relation, subject, ...(expires !== undefined && { expires }) }
}

function withoutExpiry({ expires: _, ...tuple }: FuzzTuple): FuzzTuple {
  return tuple
}

function mapped(world: World, rule: (rule: RuleDraft) => RuleDraft, tuple: (tuple: FuzzTuple) => FuzzTuple): World {
  const definitions = world.schema.definitions.map((definition) => ({
    ...definition,
    relations: definition.relations.map((relation) => ({ ...relation, rules: relation.rules.map(rule) })),
  }))
  return { ...world, schema: { ...world.schema, definitions }, tuples: world.tuples.map(tuple) }
}

function* withSmallerContexts(world: World): Generator<World> {
  for (const tuples of changed(world.tuples, smallerContexts)) yield { ...world, tuples }
  for (const queries of changed(world.queries, smallerContexts)) yield { ...world, queries }
}

function* smallerContexts<T extends { context?: Readonly<Record<string, unknown>> }>(element: T): Generator<T> {
  const entries = Object.entries(element.context ?? {})
  for (const fewer of cuts(entries)) yield { ...element, context: Object.fromEntries(fewer) }
}
