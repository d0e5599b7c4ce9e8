import type { DefinitionDraft, ExpressionDraft, RuleDraft } from './draft.ts'

/** Leaves out the usersets that would bring in everyone of a type, which SpiceDB refuses. */
export function withoutWildcardUsersets(definitions: readonly DefinitionDraft[]): DefinitionDraft[] {
  const isOpen = (rule: RuleDraft): boolean =>
    rule.part !== '' && rule.part !== '*' && includesWildcard(definitions, `${rule.type}#${rule.part}`, new Set())
  return definitions.map((definition) => ({
    ...definition,
    relations: definition.relations.map((relation) => {
      const rules = relation.rules.filter((rule) => !isOpen(rule))
      return { ...relation, rules: rules.length > 0 ? rules : [{ type: 'user', part: '', caveat: '', expires: false }] }
    }),
  }))
}

function includesWildcard(definitions: readonly DefinitionDraft[], member: string, seen: Set<string>): boolean {
  if (seen.has(member)) return false
  seen.add(member)
  const [type, name] = member.split('#')
  const definition = definitions.find((each) => each.name === type)
  const rules = definition?.relations.find((each) => each.name === name)?.rules ?? []
  const body = definition?.permissions.find((each) => each.name === name)?.expression
  const named = body === undefined ? [] : words(body).map((word) => `${type}#${word}`)
  const usersets = rules.filter(({ part }) => part !== '').map((rule) => `${rule.type}#${rule.part}`)
  if (rules.some(({ part }) => part === '*')) return true
  return [...usersets, ...named].some((next) => includesWildcard(definitions, next, seen))
}

const words = (expression: ExpressionDraft): string[] =>
  expression.kind === 'leaf' ? [expression.text] : [...words(expression.left), ...words(expression.right)]
