import type { CaveatNode, DefinitionNode, SchemaNode } from './ast.ts'
import { FEATURES } from './lexer.ts'
import { parseCaveat } from './parse-caveat.ts'
import { parseDefinition } from './parse-definition.ts'
import { SchemaError } from './schema-error.ts'
import { createTokenCursor, type TokenCursor } from './token-cursor.ts'

/** Maximum length of a schema in characters; SpiceDB accepts 4 MiB. */
const CHARACTERS_MAX = 4 * 1024 * 1024

/** A partially parsed schema. */
interface Draft {
  readonly uses: string[]
  readonly definitions: DefinitionNode[]
  readonly caveats: CaveatNode[]
  readonly partials: DefinitionNode[]
}

/**
 * Parses a schema in the language of SpiceDB 1.54, without `import`: a schema is one text.
 * @throws SchemaError at the first syntax error.
 */
export function parseSchema(text: string): SchemaNode {
  if (text.length > CHARACTERS_MAX) {
    throw new SchemaError({ line: 1, column: 1 }, `expected a schema of at most ${CHARACTERS_MAX} characters`)
  }
  const tokens = createTokenCursor(text)
  const schema: Draft = { uses: [], definitions: [], caveats: [], partials: [] }
  for (;;) {
    tokens.tryTakeTerminator()
    if (tokens.peek().kind === 'end') return schema
    parseTopLevel(tokens, schema)
  }
}

function parseTopLevel(tokens: TokenCursor, { uses, definitions, caveats, partials }: Draft): void {
  if (tokens.tryTake('definition') !== undefined) definitions.push(parseDefinition(tokens, 'definition'))
  else if (tokens.tryTake('caveat') !== undefined) caveats.push(parseCaveat(tokens))
  else if (tokens.tryTake('partial') !== undefined) partials.push(parseDefinition(tokens, 'partial'))
  else uses.push(parseUse(tokens, definitions.length + caveats.length))
}

function parseUse(tokens: TokenCursor, declaredBefore: number): string {
  const word = tokens.peek()
  if (word.text === 'import') tokens.fail('a schema in one text: "import" is not supported')
  if (word.text === 'partial') tokens.fail('"use partial" at the top of the schema')
  if (word.kind !== 'identifier' || word.text !== 'use') tokens.fail('"use", "definition" or "caveat"')
  if (declaredBefore > 0) tokens.fail('"definition" or "caveat": "use" comes before them')
  tokens.take()
  const feature = tokens.peek()
  if (feature.kind !== 'keyword' && feature.kind !== 'identifier') tokens.fail('a feature after "use"')
  tokens.take()
  if (Object.hasOwn(FEATURES, feature.text)) return feature.text
  const known = Object.keys(FEATURES).join(', ')
  throw new SchemaError(feature.at, `expected a feature that is supported (${known}), found "${feature.text}"`)
}
