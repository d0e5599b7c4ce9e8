import type { ManifestField, ManifestOperation, ManifestValue } from '../../shared/contract/manifest-format.ts'
import type { ArgumentSpec, FlagKind, FlagSpec } from '../argv/flags.ts'
import { SELECTOR } from '../argv/selector.ts'
import { singular } from '../argv/tree.ts'

/** The word that removes a secret, in place of a file. */
export const NO_SECRET = 'none'

/** A member of an operation's input with its place on the command line. */
export interface Member {
  readonly field: ManifestField
  readonly place: 'params' | 'query' | 'body'
  /** Name of its flag, or of its argument. */
  readonly word: string
  /** Position among the arguments; undefined for a flag. */
  readonly position: number | undefined
  /** What it refers to. */
  readonly noun: string | undefined
  /** Labels that a list is asked for. */
  readonly isSelector: boolean
}

/** What a command is about: its first word. */
export function nounOf({ cli }: ManifestOperation): string {
  return cli?.command.split(' ')[0] ?? ''
}

/** The members that a person fills in; pages and limits are the command line's own business. */
export function membersOf(operation: ManifestOperation): readonly Member[] {
  const own = new Set([...Object.keys(operation.cli?.sends ?? {}), ...(operation.paging ? ['cursor', 'limit'] : [])])
  const query = operation.query.filter(({ name }) => !own.has(name))
  const member =
    (place: Member['place']) =>
    (field: ManifestField): Member => {
      const noun = operation.cli?.refs?.[field.name]
      const position = operation.cli?.args?.indexOf(field.name) ?? -1
      const isSelector = field.name === operation.cli?.selector
      const word = isSelector ? SELECTOR : wordOf(field, noun)
      return { field, place, noun, word, position: position < 0 ? undefined : position, isSelector }
    }
  return [
    ...operation.params.map(member('params')),
    ...query.map(member('query')),
    ...(operation.body?.fields ?? []).map(member('body')),
  ]
}

/** `project_id` -> `project`, `host_node_ids` -> `host-node`, `ttl_seconds` -> `ttl`, `id` -> its noun; a secret is in a file. A principal is a subject. */
function wordOf({ name, type, writeOnly }: ManifestField, noun: string | undefined): string {
  if (name === 'id') return noun === undefined ? 'id' : singular(noun)
  if (writeOnly === true) return `${name.replaceAll('_', '-')}-file`
  if (name === 'principal_id') return 'subject'
  const bare = noun === undefined ? name : name.replace(/_ids?$/, '')
  return (isSeconds({ name, type }) ? bare.replace(/_seconds$/, '') : bare).replaceAll('_', '-')
}

/** Lengths of time in whole seconds are typed as durations. */
export function isSeconds({ name, type }: Pick<ManifestField, 'name' | 'type'>): boolean {
  return type === 'integer' && name.endsWith('_seconds')
}

/** The flag of a member. */
export function flagOf(member: Member): FlagSpec {
  const { field, noun } = member
  return {
    kind: kindOf(field),
    describe: describeOf(member),
    ...(noun !== undefined && isPlace(noun) && { also: `CTL_${singular(noun).toUpperCase()}` }),
    ...(choicesOf(field) && { choices: choicesOf(field) ?? [] }),
    ...(placeholderOf(member) !== undefined && { value: placeholderOf(member) ?? '' }),
    ...(noun !== undefined && { noun }),
    ...(field.required && !isPlace(noun) && { required: true }),
  }
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

/** Domains and Projects are where a command works: settings fill them in. */
export function isPlace(noun: string | undefined): boolean {
  return noun === 'domains' || noun === 'projects'
}

function kindOf(field: ManifestField): FlagKind {
  if (isSeconds(field)) return 'duration'
  if (field.type === 'boolean') return 'switch'
  if (field.type === 'integer' || field.type === 'number') return field.type
  if (isWords(field) || isPairs(field)) return 'list'
  return 'text'
}

/** An array of plain values, typed with commas or several flags. */
export function isWords({ type, items }: ManifestValue): boolean {
  return type === 'array' && items !== undefined && ['string', 'integer', 'number'].includes(items.type)
}

/** An object of texts under free names, typed as `key=value`. */
export function isPairs({ type, values }: ManifestValue): boolean {
  return type === 'object' && values?.type === 'string'
}

function choicesOf({ type, enum: own, items }: ManifestValue): readonly string[] | undefined {
  const values = type === 'array' ? items?.enum : own
  return values?.map(String)
}

/** What a member is, in a few words. */
export function describeOf({ field, noun, position }: Member): string {
  const described = field.description ?? sentence(noun === undefined ? field.name : singular(noun))
  if (field.writeOnly === true) return `${described} (${wordsOfFile(field)})`
  if (position !== undefined || !isPlace(noun)) return described
  const fallback = noun === 'domains' && field.required ? '; your own when absent' : ''
  return `${described}${fallback}`
}

function wordsOfFile({ nullable }: ManifestField): string {
  return `the file that holds it, - for stdin${nullable === true ? `, ${NO_SECRET} to take it away` : ''}`
}

function sentence(name: string): string {
  const words = name.replaceAll(/[_-]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function placeholderOf({ field, noun, word }: Member): string | undefined {
  if (noun !== undefined) return singular(noun).toUpperCase()
  if (field.writeOnly === true) return 'FILE'
  if (isPairs(field)) return 'KEY=VALUE'
  if (isWords(field)) return undefined
  if (field.type === 'object' || field.type === 'array' || field.type === 'json') return 'JSON'
  if (field.format === 'date-time') return 'TIME'
  if (field.enum !== undefined) return word.toUpperCase()
  return undefined
}
