import type { CaveatNode, DefinitionNode, PermissionNode, RelationNode, SchemaNode, SubjectTypeNode } from './ast.ts'
import { parseExpression } from './parse-expression.ts'
import { SchemaError } from './schema-error.ts'
import { createTokenCursor, type TokenCursor } from './token-cursor.ts'

/** Put in the comment before a relation that only the service writes. */
const STRUCTURAL = /@structural\b/

/** Features that a schema may switch on with `use`. */
const USES: readonly string[] = ['self']

/**
 * Parses a schema in the part of SpiceDB's language that this service uses: definitions, relations with subject types,
 * wildcards and caveats, permissions with `+ & -`, `->`, `self` and `nil`, and caveats whose expression is kept as text.
 * @throws SchemaError at the first thing that is not in that part.
 */
export function parseSchema(text: string): SchemaNode {
  const tokens = createTokenCursor(text)
  const uses: string[] = []
  const definitions: DefinitionNode[] = []
  const caveats: CaveatNode[] = []
  for (;;) {
    tokens.skipTerminators()
    if (tokens.peek().kind === 'end') return { uses, definitions, caveats }
    if (tokens.tryTake('definition') !== undefined) definitions.push(parseDefinition(tokens, uses.includes('self')))
    else if (tokens.tryTake('caveat') !== undefined) caveats.push(parseCaveat(tokens))
    else uses.push(parseUse(tokens, definitions.length + caveats.length))
  }
}

function parseUse(tokens: TokenCursor, declaredBefore: number): string {
  const word = tokens.peek()
  if (word.kind !== 'identifier' || word.text !== 'use') tokens.fail('"use", "definition" or "caveat"')
  if (declaredBefore > 0) tokens.fail('"definition" or "caveat": "use" stands before them')
  tokens.take()
  const flag = tokens.expectName('a feature after "use"')
  if (USES.includes(flag.text)) return flag.text
  throw new SchemaError(flag.at, `expected a feature that is supported (${USES.join(', ')}), found "${flag.text}"`)
}

function parseDefinition(tokens: TokenCursor, selfAllowed: boolean): DefinitionNode {
  const { at } = tokens.peek()
  const name = parseTypeName(tokens, 'a type name after "definition"')
  const relations: RelationNode[] = []
  const permissions: PermissionNode[] = []
  tokens.expect('{')
  while (tokens.tryTake('}') === undefined) {
    const { comment } = tokens.peek()
    if (tokens.tryTake('relation') !== undefined) relations.push(parseRelation(tokens, STRUCTURAL.test(comment)))
    else if (tokens.tryTake('permission') !== undefined) permissions.push(parsePermission(tokens, selfAllowed))
    else tokens.fail('"relation", "permission" or "}"')
  }
  return { name, at, relations, permissions }
}

/** `name` or `prefix/name`. */
function parseTypeName(tokens: TokenCursor, what: string): string {
  let name = tokens.expectName(what).text
  while (tokens.tryTake('/') !== undefined) name += `/${tokens.expectName('a type name after "/"').text}`
  return name
}

function parseRelation(tokens: TokenCursor, structural: boolean): RelationNode {
  const { at, text: name } = tokens.expectName('a relation name')
  tokens.expect(':')
  const subjects = [parseSubjectType(tokens)]
  while (tokens.tryTake('|') !== undefined) subjects.push(parseSubjectType(tokens))
  tokens.expectTerminator('a relation')
  return { name, at, subjects, structural }
}

function parseSubjectType(tokens: TokenCursor): SubjectTypeNode {
  const { at } = tokens.peek()
  const type = parseTypeName(tokens, 'a subject type')
  const wildcard = tokens.tryTake(':') !== undefined
  if (wildcard) tokens.expect('*')
  const relation = wildcard || tokens.tryTake('#') === undefined ? undefined : parseSubjectRelation(tokens)
  const caveat = tokens.tryTake('with') === undefined ? undefined : parseTypeName(tokens, 'a caveat name after "with"')
  return { type, at, relation, wildcard, caveat }
}

/** `#...` is the object itself. */
function parseSubjectRelation(tokens: TokenCursor): string | undefined {
  return tokens.tryTake('...') === undefined ? tokens.expectName('a relation name after "#"').text : undefined
}

function parsePermission(tokens: TokenCursor, selfAllowed: boolean): PermissionNode {
  const { at, text: name } = tokens.expectName('a permission name')
  tokens.expect('=')
  const expression = parseExpression(tokens, selfAllowed)
  tokens.expectTerminator('a permission')
  return { name, at, expression }
}

function parseCaveat(tokens: TokenCursor): CaveatNode {
  const { at } = tokens.peek()
  const name = parseTypeName(tokens, 'a caveat name')
  tokens.expect('(')
  const fields = [parseField(tokens)]
  while (tokens.tryTake(',') !== undefined) fields.push(parseField(tokens))
  tokens.expect(')')
  tokens.expect('{')
  const expression = tokens.rawUntilClosingBrace().trim()
  if (expression === '') tokens.fail('an expression')
  tokens.expect('}')
  return { name, at, fields, expression }
}

function parseField(tokens: TokenCursor): CaveatNode['fields'][number] {
  const { at, text: name } = tokens.expectName('a field name')
  return { name, at, type: parseFieldType(tokens) }
}

/** `int`, `list<string>`, `map<any>`. */
function parseFieldType(tokens: TokenCursor): string {
  const { text } = tokens.expectName('a type')
  if (tokens.tryTake('<') === undefined) return text
  const inner = parseFieldType(tokens)
  tokens.expect('>')
  return `${text}<${inner}>`
}
