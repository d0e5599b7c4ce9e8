import type { DefinitionDraft, RuleDraft } from './draft.ts'

type Trait = (rule: RuleDraft) => boolean

const TRAITS: readonly Trait[] = [({ caveat }) => caveat !== '', ({ expires }) => expires]

/**
 * Whether SpiceDB 1.54 overlooks conditions of the relation. It compares the number of direct rules and wildcards of one
 * subject type with that of all rules of the type without conditions, usersets among them; where both are the same it
 * reads tuples without their conditions. For a userset as the subject the rules of that userset are the direct ones.
 */
function isMiscounted(rules: readonly RuleDraft[]): boolean {
  return rules.some(({ type, part }) => {
    const ofType = rules.filter((rule) => rule.type === type)
    const read = ofType.filter((rule) => rule.part === '*' || rule.part === (part === '*' ? '' : part))
    return TRAITS.some((has) => read.some(has) && ofType.filter((rule) => !has(rule)).length === read.length)
  })
}

/** Leaves out the usersets of relations whose conditions SpiceDB overlooks. */
export function withoutMiscounts(definitions: readonly DefinitionDraft[]): DefinitionDraft[] {
  return definitions.map((definition) => ({
    ...definition,
    relations: definition.relations.map((relation) => {
      if (!isMiscounted(relation.rules)) return relation
      const rules = relation.rules.filter(({ part }) => part === '' || part === '*')
      return { ...relation, rules: rules.length > 0 ? rules : relation.rules.slice(0, 1) }
    }),
  }))
}

/** Whether a schema, as this fuzz writes it, has a relation whose conditions SpiceDB overlooks. */
export function hasMiscounts(schema: string): boolean {
  return [...schema.matchAll(/^ *relation \w+: (.+)$/gm)].some(([, rules = '']) =>
    isMiscounted(rules.split(' | ').map(ruleOf)),
  )
}

function ruleOf(text: string): RuleDraft {
  const [subject = '', traits = ''] = text.split(' with ')
  const [, type = '', part = ''] = /^([^#:]+)[#:]?(.*)$/.exec(subject) ?? []
  const names = traits.split(' and ').filter((name) => name !== '')
  const caveat = names.find((name) => name !== 'expiration') ?? ''
  return { type, part, caveat, expires: names.includes('expiration') }
}
