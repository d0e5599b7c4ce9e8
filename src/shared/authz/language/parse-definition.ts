import type { DefinitionNode, NameNode, PermissionNode, RelationNode, SubjectTypeNode } from './ast.ts'
import { parseExpression } from './parse-expression.ts'
import type { TokenCursor } from './token-cursor.ts'

/** Marks, in the comment before it, a relation that only the service writes. */
const STRUCTURAL = /@structural\b/

interface Members {
  readonly relations: RelationNode[]
  readonly permissions: PermissionNode[]
  readonly includes: NameNode[]
}

/** Parses a definition or partial after its keyword, which `what` names. */
export function parseDefinition(tokens: TokenCursor, what: 'definition' | 'partial'): DefinitionNode {
  const { at } = tokens.peek()
  const name = parseTypeName(tokens, `a type name after "${what}"`)
  const members: Members = { relations: [], permissions: [], includes: [] }
  tokens.expect('{')
  while (tokens.tryTake('}') === undefined) parseMember(tokens, members)
  return { name, at, ...members }
}

function parseMember(tokens: TokenCursor, { relations, permissions, includes }: Members): void {
  const { comment, kind } = tokens.peek()
  if (kind === 'terminator') tokens.take()
  else if (tokens.tryTake('relation') !== undefined) relations.push(parseRelation(tokens, STRUCTURAL.test(comment)))
  else if (tokens.tryTake('permission') !== undefined) permissions.push(parsePermission(tokens))
  else if (tokens.tryTake('...') !== undefined) includes.push(parsePartialName(tokens))
  else tokens.fail('"relation", "permission" or "}"')
}

/** `name` or `prefix/name`. */
export function parseTypeName(tokens: TokenCursor, what: string): string {
  let name = tokens.expectName(what).text
  while (tokens.tryTake('/') !== undefined) name += `/${tokens.expectName('a type name after "/"').text}`
  return name
}

function parsePartialName(tokens: TokenCursor): NameNode {
  const { at, text: name } = tokens.expectName('the name of a partial after "..."')
  tokens.expectTerminator('the name of a partial')
  return { name, at }
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
  const conditions = tokens.tryTake('with') === undefined ? NO_CONDITIONS : parseConditions(tokens)
  return { type, at, relation, wildcard, ...conditions }
}

/** `#...` is the object itself. */
function parseSubjectRelation(tokens: TokenCursor): string | undefined {
  return tokens.tryTake('...') === undefined ? tokens.expectName('a relation name after "#"').text : undefined
}

type Conditions = Pick<SubjectTypeNode, 'caveat' | 'expires'>

const NO_CONDITIONS: Conditions = { caveat: undefined, expires: false }

/** `expiration`, a caveat, or a caveat `and expiration`. SpiceDB also accepts a redundant `and`. */
function parseConditions(tokens: TokenCursor): Conditions {
  if (tokens.tryTake('expiration') !== undefined) {
    if (tokens.peek().text === 'and') tokens.fail('"with caveat and expiration": the caveat comes first')
    return { caveat: undefined, expires: true }
  }
  const caveat = parseTypeName(tokens, 'a caveat name after "with"')
  const expires = tokens.tryTake('and') !== undefined && tokens.tryTake('expiration') !== undefined
  return { caveat, expires }
}

function parsePermission(tokens: TokenCursor): PermissionNode {
  const { at, text: name } = tokens.expectName('a permission name')
  const subjectTypes = tokens.tryTake(':') === undefined ? undefined : parseTypeNames(tokens)
  tokens.expect('=')
  const expression = parseExpression(tokens)
  tokens.expectTerminator('a permission')
  return { name, at, subjectTypes, expression }
}

/** `user | group`. */
function parseTypeNames(tokens: TokenCursor): string[] {
  const names = [tokens.expectName('a type name after ":"').text]
  while (tokens.tryTake('|') !== undefined) names.push(tokens.expectName('a type name after "|"').text)
  return names
}
