/** A schema in pieces that can be dropped one by one. Plain data throughout. */
export interface SchemaDraft {
  readonly uses: readonly string[]
  readonly caveats: readonly CaveatDraft[]
  readonly definitions: readonly DefinitionDraft[]
}

export interface CaveatDraft {
  readonly name: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  /** CEL text. */
  readonly expression: string
}

export interface DefinitionDraft {
  readonly name: string
  readonly relations: readonly RelationDraft[]
  readonly permissions: readonly PermissionDraft[]
}

export interface RelationDraft {
  readonly name: string
  readonly rules: readonly RuleDraft[]
}

/** One kind of subject that a relation takes. */
export interface RuleDraft {
  readonly type: string
  /** A relation or permission; `*` for everyone; empty for objects. */
  readonly part: string
  /** Empty for none. */
  readonly caveat: string
  readonly expires: boolean
}

export interface PermissionDraft {
  readonly name: string
  readonly expression: ExpressionDraft
}

export type ExpressionDraft =
  | { readonly kind: 'leaf'; readonly text: string }
  | {
      readonly kind: 'binary'
      readonly operator: '+' | '&' | '-'
      readonly left: ExpressionDraft
      readonly right: ExpressionDraft
      /** Whether it stands in parentheses. */
      readonly enclosed: boolean
    }

/** The schema as SpiceDB reads it. */
export function schemaText({ uses, caveats, definitions }: SchemaDraft): string {
  return [...uses.map((name) => `use ${name}\n`), ...caveats.map(caveatText), ...definitions.map(definitionText)].join(
    '',
  )
}

function caveatText({ name, parameters, expression }: CaveatDraft): string {
  const fields = parameters.map((parameter) => `${parameter.name} ${parameter.type}`).join(', ')
  return `caveat ${name}(${fields}) {\n    ${expression}\n}\n`
}

function definitionText({ name, relations, permissions }: DefinitionDraft): string {
  if (relations.length + permissions.length === 0) return `definition ${name} {}\n`
  const lines = [
    ...relations.map((relation) => `    relation ${relation.name}: ${relation.rules.map(ruleText).join(' | ')}\n`),
    ...permissions.map(
      (permission) => `    permission ${permission.name} = ${expressionText(permission.expression)}\n`,
    ),
  ]
  return `definition ${name} {\n${lines.join('')}}\n`
}

/** A subject type as the schema spells it. */
export function ruleText({ type, part, caveat, expires }: RuleDraft): string {
  const subject = part === '' ? type : part === '*' ? `${type}:*` : `${type}#${part}`
  const traits = [...(caveat === '' ? [] : [caveat]), ...(expires ? ['expiration'] : [])]
  return traits.length === 0 ? subject : `${subject} with ${traits.join(' and ')}`
}

function expressionText(expression: ExpressionDraft): string {
  if (expression.kind === 'leaf') return expression.text
  const text = `${expressionText(expression.left)} ${expression.operator} ${expressionText(expression.right)}`
  return expression.enclosed ? `(${text})` : text
}
