import type { ManifestField, ManifestValue } from '../../shared/contract/manifest-format.ts'
import type { ArgumentSpec, FlagKind, FlagSpec } from '../argv/flags.ts'
import { singular } from '../argv/tree.ts'
import { isOnlyOne, isPairs, isPlace, isSeconds, isWords, NONE, type Member } from './members.ts'

/** The flag of a member. */
export function flagOf(member: Member): FlagSpec {
  const { field, form } = member
  const [choices, value] = [choicesOf(field), placeholderOf(member)]
  return {
    kind: form === undefined ? kindOf(field) : 'many',
    describe: describeOf(member),
    ...(member.sameAs !== undefined && { fallback: `the ${member.sameAs.replaceAll('_', ' ')}` }),
    ...(choices && { choices }),
    ...(value !== undefined && { value }),
    ...(field.writeOnly === true && { isSecret: true as const }),
    ...referenceOf(member),
    ...(field.required && !isPlace(member.noun) && !isOnlyOne(member) && { required: true }),
  }
}

/** What a flag refers to, and for a place the variable that also names it. */
function referenceOf({ noun }: Member): Pick<FlagSpec, 'noun' | 'also'> {
  if (noun === undefined) return {}
  return { noun, ...(isPlace(noun) && { also: `CTL_${singular(noun).toUpperCase()}` }) }
}

/** The argument of a member. The last one takes several references. */
export function argumentOf(member: Member, isLast: boolean): ArgumentSpec {
  const { field, word, noun } = member
  return {
    name: word,
    describe: describeOf(member),
    required: field.required,
    ...(isLast && noun !== undefined && { many: true }),
    ...(noun !== undefined && { noun }),
    ...(choicesOf(field) && { choices: choicesOf(field) ?? [] }),
  }
}

function kindOf(field: ManifestField): FlagKind {
  if (field.writeOnly === true) return 'text'
  if (isSeconds(field)) return 'duration'
  if (field.type === 'boolean') return 'switch'
  if (field.type === 'integer' || field.type === 'number') return field.type
  if (isWords(field) || isPairs(field)) return 'list'
  return 'text'
}

function choicesOf({ type, enum: own, items }: ManifestValue): readonly string[] | undefined {
  const values = type === 'array' ? items?.enum : own
  return values?.map(String)
}

/** What a member is, in a few words. */
export function describeOf({ field, noun, position, form, place }: Member): string {
  const described = field.description ?? sentence(noun === undefined ? field.name : singular(noun))
  if (field.writeOnly === true) return `${described} (${wordsOfFile(field)})`
  if (form !== undefined) return `${described} (${wordsOfForm(field)})`
  if (isAhead(place, field)) return `${described} (or a duration from now, such as 90d)`
  return `${described}${absenceOf({ field, noun, position })}`
}

/** What is meant where the place of a command is left out. */
function absenceOf({ field, noun, position }: Pick<Member, 'field' | 'noun' | 'position'>): string {
  if (isOnlyOne({ noun, position })) return '; the only one of the Project when absent'
  return position === undefined && noun === 'domains' && field.required ? '; your own when absent' : ''
}

/** An instant that a change sets lies ahead. */
function isAhead(place: Member['place'], { format }: ManifestField): boolean {
  return place === 'body' && format === 'date-time'
}

function wordsOfFile({ nullable, type }: ManifestField): string {
  const file = type === 'string' ? 'the file' : 'a JSON or YAML file'
  return `${file} that holds it, - for stdin${nullable === true ? `, ${NONE} to take it away` : ''}`
}

function wordsOfForm({ required, minItems = 0 }: ManifestField): string {
  return required || minItems > 0 ? 'may be repeated' : `may be repeated; ${NONE} for an empty set`
}

function sentence(name: string): string {
  const words = name.replaceAll(/[_-]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function placeholderOf({ field, noun, word, form }: Member): string | undefined {
  if (noun !== undefined) return singular(noun).toUpperCase()
  if (field.writeOnly === true) return 'FILE'
  if (form !== undefined) return FORMS[form]
  return field.enum === undefined ? placeholderOfType(field) : word.toUpperCase()
}

const FORMS = {
  pairs: 'KEY=VALUE',
  packages: 'SOURCE@VERSION',
  rules: 'RULE',
  tests: 'TEST',
  'sign-ins': 'OPERATION=ACR,…@AGE',
} as const

function placeholderOfType(field: ManifestField): string | undefined {
  if (isPairs(field)) return FORMS.pairs
  if (isWords(field)) return undefined
  if (field.type === 'object' || field.type === 'array' || field.type === 'json') return 'JSON'
  if (field.format === 'date-time') return 'TIME'
  return undefined
}
